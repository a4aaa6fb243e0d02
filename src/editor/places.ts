/**
 * Where a document stands: its workspace folder (the root below which companions may be read) and its path below it,
 * which is the name that the analysis knows it by. A document without a file or outside every folder has no root; it
 * is read alone.
 */

import * as vscode from 'vscode';
import { lineStarts, positionAt } from '../model/position.ts';
import type { Texts } from '../model/reading.ts';
import type { TextRange } from '../model/source.ts';
import { nameWithExtension } from './languages.ts';
import { baseName, insideRoot, relativeTo } from './paths.ts';

export interface Place {
  readonly uri: vscode.Uri;
  readonly root: vscode.Uri | null;
  /** Relative to the root, with `/`. */
  readonly file: string;
}

export function placeOf(document: vscode.TextDocument): Place {
  const { uri } = document;
  const root = vscode.workspace.getWorkspaceFolder(uri)?.uri ?? null;
  const below = root === null ? null : relativeTo(root.path, uri.path);
  if (root !== null && below !== null) return { uri, root, file: below };
  return { uri, root: null, file: nameWithExtension(baseName(uri.path), document.languageId) };
}

/** The document that a file of an analysis is; null for a name that lies outside the root. */
export function uriOf(place: Place, file: string): vscode.Uri | null {
  if (file === place.file) return place.uri;
  const inside = insideRoot(file);
  return place.root === null || inside === null ? null : vscode.Uri.joinPath(place.root, inside);
}

/** Turns offsets into the editor's positions; the starts of the lines of each text are found once. */
export function createLocator(texts: Texts): (range: TextRange) => vscode.Range {
  const known = new Map<string, readonly number[]>();
  const position = (file: string, offset: number): vscode.Position => {
    const text = texts[file] ?? '';
    let starts = known.get(file);
    if (starts === undefined) {
      starts = lineStarts(text);
      known.set(file, starts);
    }
    const { line, column } = positionAt(starts, Math.min(Math.max(0, offset), text.length));
    return new vscode.Position(line - 1, column - 1);
  };
  return ({ file, offset, length }) => new vscode.Range(position(file, offset), position(file, offset + length));
}
