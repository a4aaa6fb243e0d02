/** The nanotron reader against its goldens. */

import { before } from 'node:test';
import { nanotronReader } from '../../src/readers/nanotron.ts';
import { loadParsers } from '../../src/readers/parsers.ts';
import { goldenReadings } from './golden-readings.ts';

before(() => loadParsers(['yaml']));
goldenReadings(nanotronReader, 'nanotron');
