// The types of bench-editor.mjs, for the measurements.

import type { EditorFigures } from '../test/bench/editor-host.ts';

export function measureEditor(which?: string): Promise<EditorFigures>;
