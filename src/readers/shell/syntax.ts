/**
 * The parts of a shell script that can carry a training plan, with the place of everything: words made of literal
 * runs and expansions, and statements that hold them. Every literal run maps one to one to the characters in the
 * file, so that whatever it is expanded into later still knows the token it was written as.
 */

/** What `${name…}` does to the value; `other` is any operator whose result this front end does not compute. */
export type VariableOperator = '' | '-' | ':-' | '=' | ':=' | '+' | ':+' | '?' | ':?' | 'length' | 'other';

export type Part =
  | { readonly kind: 'text'; readonly text: string; readonly offset: number; readonly quoted: boolean }
  | {
      readonly kind: 'variable';
      readonly name: string;
      /** `@` or `*` for a whole array, an element's number, or null for a plain variable. */
      readonly index: string | null;
      readonly operator: VariableOperator;
      readonly operand: readonly Part[];
      readonly offset: number;
      readonly length: number;
      readonly quoted: boolean;
    }
  | {
      readonly kind: 'arithmetic';
      readonly parts: readonly Part[];
      readonly offset: number;
      readonly length: number;
      readonly quoted: boolean;
    }
  | {
      readonly kind: 'command';
      readonly text: string;
      readonly offset: number;
      readonly length: number;
      readonly quoted: boolean;
    };

export interface Word {
  readonly parts: readonly Part[];
  readonly offset: number;
  readonly length: number;
}

export interface Assignment {
  readonly name: string;
  /** `ARRAY[3]=x`: the element is not followed. */
  readonly element: boolean;
  readonly append: boolean;
  readonly value: Word | readonly Word[];
  readonly offset: number;
}

export interface Heredoc {
  readonly start: number;
  readonly end: number;
  /** A quoted delimiter: nothing in the body is expanded. */
  readonly literal: boolean;
}

/** How a statement follows the one before it. */
export type Connector = ';' | '&&' | '||' | '|';

interface StatementBase {
  readonly connector: Connector;
  readonly negated: boolean;
  readonly offset: number;
}

export interface SimpleStatement extends StatementBase {
  readonly kind: 'simple';
  readonly assignments: readonly Assignment[];
  readonly words: readonly Word[];
  readonly heredocs: readonly Heredoc[];
}

export type Statement =
  | SimpleStatement
  | (StatementBase & {
      readonly kind: 'if';
      readonly arms: readonly { readonly condition: readonly Statement[]; readonly body: readonly Statement[] }[];
      readonly otherwise: readonly Statement[];
    })
  | (StatementBase & {
      readonly kind: 'case';
      readonly subject: Word;
      readonly arms: readonly { readonly patterns: readonly Word[]; readonly body: readonly Statement[] }[];
    })
  | (StatementBase & {
      readonly kind: 'loop';
      /** The variable of a `for`; null for `while` and `until`. */
      readonly variable: string | null;
      readonly items: readonly Word[];
      readonly body: readonly Statement[];
    })
  | (StatementBase & { readonly kind: 'function'; readonly name: string; readonly body: readonly Statement[] })
  | (StatementBase & { readonly kind: 'group'; readonly body: readonly Statement[] })
  | (StatementBase & { readonly kind: 'arithmetic'; readonly parts: readonly Part[] });

/** A `#SBATCH` line: the text after the marker and where it starts. */
export interface Directive {
  readonly text: string;
  readonly offset: number;
}

/** What is broken in the text: an end that never comes. */
export interface ShellProblem {
  readonly message: string;
  readonly offset: number;
  readonly length: number;
}

export interface Script {
  readonly statements: readonly Statement[];
  readonly directives: readonly Directive[];
  readonly problems: readonly ShellProblem[];
}

/** The text of a word that holds nothing but literal runs; null where it expands anything. */
export function literalText(word: Word): string | null {
  let text = '';
  for (const part of word.parts) {
    if (part.kind !== 'text') return null;
    text += part.text;
  }
  return text;
}
