/** The torchtitan reader against its goldens. */

import { before } from 'node:test';
import { loadParsers } from '../../src/readers/parsers.ts';
import { torchtitanReader } from '../../src/readers/torchtitan.ts';
import { goldenReadings } from './golden-readings.ts';

before(() => loadParsers(['toml']));
goldenReadings(torchtitanReader, 'torchtitan');
