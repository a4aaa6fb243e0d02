/**
 * Looking values up by their native key: what was said outside the file stands first, then the token in the file;
 * a value that is absent or not legal is unknown and names the key that would tell it.
 */

import type { Finding } from '../../model/finding.ts';
import type { Said } from '../../model/plan.ts';
import { fromText, type Known, type Sourced, type TextRange, unknown } from '../../model/source.ts';
import { finding } from '../limits.ts';
import { spoken } from '../said.ts';
import { type Checked, legalValue, type NativeValue } from './check.ts';
import { expectation, keyRow, type ValueKey } from './keys.ts';

export interface Values {
  readonly number: (key: ValueKey, what: string) => Sourced<number>;
  readonly text: (key: ValueKey, what: string) => Sourced<string>;
  readonly flag: (key: ValueKey, what: string) => Sourced<boolean>;
  /** `values` are the table's own; the result is one of them. */
  readonly choice: <T extends string>(key: ValueKey, values: readonly T[], what: string) => Sourced<T>;
  /** What was said but is not legal. */
  readonly findings: readonly Finding[];
}

/** `anchor` is where a finding about a said value goes: it has no token. */
export function nativeValues(checked: Checked, said: Said, anchor: TextRange): Values {
  const findings: Finding[] = [];
  const refused = new Set<ValueKey>();
  const lookUp = (key: ValueKey): Known<NativeValue> | null => {
    const entry = Object.hasOwn(said, key) ? said[key] : undefined;
    if (entry !== undefined) {
      const value = legalValue(keyRow(key), entry.value);
      if (value !== null) return spoken(value, entry);
      const message = `${key} takes ${expectation(keyRow(key))}, not ${String(entry.value)} (${entry.by})`;
      if (!refused.has(key)) findings.push(finding('invalid-value', message, anchor));
      refused.add(key);
    }
    const token = checked.values.get(key);
    return token === undefined ? null : fromText(token.value, token.range);
  };
  const absent = (key: ValueKey, what: string) => {
    const range = checked.illegal.get(key);
    return range === undefined ? unknown(what, key) : unknown(`a legal ${key}`, key, range);
  };
  return {
    number: (key, what) => {
      const found = lookUp(key);
      return found !== null && typeof found.value === 'number' ? { ...found, value: found.value } : absent(key, what);
    },
    text: (key, what) => {
      const found = lookUp(key);
      return found === null ? absent(key, what) : { ...found, value: String(found.value) };
    },
    flag: (key, what) => {
      const found = lookUp(key);
      return found !== null && typeof found.value === 'boolean' ? { ...found, value: found.value } : absent(key, what);
    },
    choice: (key, values, what) => {
      const found = lookUp(key);
      const value = values.find((candidate) => candidate === found?.value);
      return found === null || value === undefined ? absent(key, what) : { ...found, value };
    },
    findings,
  };
}
