/** The shell front end: words with their places, expansion, arithmetic, conditions and batch headers. */

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell text

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { evaluateArithmetic } from '../../src/readers/shell/arithmetic.ts';
import { matchesPattern } from '../../src/readers/shell/conditions.ts';
import { evaluateShell } from '../../src/readers/shell/evaluate.ts';
import { argumentOf } from '../../src/readers/shell/flags.ts';
import { parseShell } from '../../src/readers/shell/parse.ts';
import { candidates } from '../../src/readers/shell/paths.ts';
import type { SimpleStatement } from '../../src/readers/shell/syntax.ts';

const NOWHERE = { file: 'a.sh', offset: 0, length: 0 };

/** The words of the `run` command of a script: text, and the characters where each is written. */
function words(script: string, others: Readonly<Record<string, string>> = {}): readonly string[] {
  const texts = { 'a.sh': script, ...others };
  const { commands } = evaluateShell('a.sh', texts, (each) => each[0]?.[0]?.text === 'run');
  assert.ok(commands[0] !== undefined, 'run is not reached');
  return commands[0].words.slice(1).map((word) => {
    const { text, range, missing, maybe } = argumentOf(word, NOWHERE);
    const written = texts[range.file as 'a.sh']?.slice(range.offset, range.offset + range.length);
    const shown = text === null ? `?${missing}` : text === written ? text : `${text}<-${written}`;
    return maybe === null ? shown : `${shown} (maybe)`;
  });
}

describe('shell words', () => {
  const cases: Readonly<Record<string, readonly string[]>> = {
    'run a \'b c\' "d e" f\\ g h\'i\'"j"': ['a', 'b c', 'd e', 'f g<-f\\ g', "hij<-h'i'\"j"],
    'run a \\\n  b\\\nc # d\n': ['a', 'bc<-b\\\nc'],
    'X=1; run $X ${X} "$X" \'$X\' \\$X': ['1', '1', '1', '$X', '$X'],
    'A=(1 # 2\n 3 "4 5")\nrun "${A[@]}" ${A[1]} ${#A[@]}': ['1', '3', '4 5', '3', '3<-${#A[@]}'],
    'A=("--a 1")\nrun ${A[@]} "${A[@]}" "${A[*]}"': ['--a', '1', '--a 1', '--a 1'],
    'A=(1); A+=(2 3); X=a; X+=b; run ${A[@]} $X': ['1', '2', '3', 'ab<-a'],
    'run ${X:-1} ${X:=2} $X ${X-3} ${X:+4}': ['1', '2', '2', '2', '4'],
    'X=; run ${X:-1} "${X-2}" ${X:+3}': ['1', ''],
    'run ${A:-${B:-7}} ${C:-"a b"}': ['7', 'a', 'b'],
    'run $1 ${2:-x} $NOPE $(date)': [
      '?argument $1 of the script',
      'x',
      '?$NOPE, which the script does not set',
      '?the output of `date`',
    ],
    'run a > out 2>&1 b < in &> all c >> more': ['a', 'b', 'c'],
    'X="a b"; run pre${X}post "$X"': ['prea<-pre', 'bpost<-b', 'a b'],
    'run <(gen --x) a': ['a'],
    'run $((1 + 2 * 3)) $((10 / 4)) $((2 ** 3 ** 2)) $(( (7 % 4) > 2 ? 5 : 6 ))': [
      '7<-$((1 + 2 * 3))',
      '2<-$((10 / 4))',
      '512<-$((2 ** 3 ** 2))',
      '5<-$(( (7 % 4) > 2 ? 5 : 6 ))',
    ],
    'run $((1 / 0)) $((X + 1))': ['?the result of an arithmetic expression', '?$X'],
    'f() { run $1 "$@"; }\nf a b': ['a', 'a', 'b'],
    'for X in 4; do run $X; done': ['4'],
    'for X in 4 5; do run $X; done': ['?$X, which is 4, 5 in turn in line 1'],
    'if [ -f x ]; then X=1; else X=2; fi; run $X': ['?1 or 2, depending on a condition in line 1'],
    'X=(a); if foo; then X+=(b); fi; run "${X[@]}"': ['a', 'b (maybe)'],
    'if [ $# -lt 1 ]; then X=1; exit 1; fi; X=2; run $X': ['2'],
    'if [ 2 -gt 1 ]; then X=1; else X=2; fi; run $X': ['1'],
    'if ! [[ a == b* || -z "" ]]; then X=1; else X=2; fi; run $X': ['2'],
    'X=3; ((X > 2)) && Y=1 || Y=2; run $Y': ['1'],
    'X=b; case $X in a) Y=1;; b|c) Y=2;; *) Y=3;; esac; run $Y': ['2'],
    'source lib.sh 8; run $X': ['8'],
    '. "$(dirname "$0")/lib.sh" 9; run $X': ['9'],
    'A=1 run $A': ['?$A, which the script does not set'],
    'unset X; X=1; unset X; run ${X:-2}': ['2'],
    '#SBATCH --nodes=4\n#SBATCH -n 32 # all\nrun $SLURM_NNODES ${SLURM_NTASKS:-1}': ['4', '32'],
    'cat <<EOF\nrun no\nEOF\nrun yes': ['no'],
    'set -- a b; run $2': ['b'],
  };
  for (const [script, expected] of Object.entries(cases)) {
    it(script.replaceAll('\n', '⏎'), () => {
      assert.deepEqual(words(script, { 'lib.sh': 'X=$1\n' }), expected);
    });
  }

  it('keeps the offsets behind a BOM and with CRLF', () => {
    assert.deepEqual(words('\ufeffX=12\r\nA=(\r\n  a\r\n  $X\r\n)\r\nrun ${A[@]} \\\r\n  b\r\n'), ['a', '12', 'b']);
  });

  it('asks for scripts below the root only, and once', () => {
    const script =
      '. ./one.sh\nsource lib/two.sh\n. /etc/profile\n. ~/.bashrc\n. ../../out.sh\n. $NOPE/x.sh\n. ./one.sh\n';
    const { needs } = evaluateShell('dir/a.sh', { 'dir/a.sh': script }, () => false);
    assert.deepEqual(needs, ['dir/one.sh', 'one.sh', 'dir/lib/two.sh', 'lib/two.sh']);
  });

  it('cuts loops of sourced scripts and of functions', () => {
    const { commands } = evaluateShell(
      'a.sh',
      { 'a.sh': '. b.sh\nf() { f; f; }\nf\nrun 1', 'b.sh': '. a.sh\n. b.sh\nrun 2' },
      (each) => each[0]?.[0]?.text === 'run',
    );
    assert.equal(commands.length, 2);
  });

  it('says what is never closed', () => {
    for (const [script, message] of [
      ['A=(1 2', 'This array is never closed'],
      ['echo "abc', 'This quote is never closed'],
      ['echo ${X', 'This brace is never closed'],
      ['echo $(date', 'This command substitution is never closed'],
    ] as const) {
      const { problems } = parseShell(script);
      assert.equal(problems.at(-1)?.message, message, script);
    }
  });

  it('gives every literal run its own place', () => {
    const text = 'cmd "a$B"c';
    const statement = parseShell(text).statements[0] as SimpleStatement;
    for (const word of statement.words) {
      for (const part of word.parts) {
        if (part.kind === 'text') assert.equal(text.slice(part.offset, part.offset + part.text.length), part.text);
      }
    }
  });
});

describe('arithmetic', () => {
  it('follows the precedence of C', () => {
    const cases: Readonly<Record<string, number | null>> = {
      '1+2*3': 7,
      '(1+2)*3': 9,
      '-7/2': -3,
      '-7%3': -1,
      '!0 + !5': 1,
      '2**10': 1024,
      '1 < 2 && 3 >= 4': 0,
      '0x10 + 010': 24,
      '1 +': null,
      '1 2': null,
      'a = 3': null,
      '': null,
      '9**99': null,
    };
    for (const [text, value] of Object.entries(cases))
      assert.equal(
        evaluateArithmetic(text, () => null),
        value,
        text,
      );
    assert.equal(
      evaluateArithmetic('N*2', (name) => (name === 'N' ? 4 : null)),
      8,
    );
  });

  it('ends on deep nesting', () => {
    assert.equal(
      evaluateArithmetic(`${'('.repeat(50_000)}1${')'.repeat(50_000)}`, () => null),
      null,
    );
    assert.equal(
      evaluateArithmetic(`${'2**'.repeat(50_000)}1`, () => null),
      null,
    );
  });
});

describe('patterns and paths', () => {
  it('matches globs', () => {
    assert.ok(matchesPattern('llama3-8b', '*3-?b'));
    assert.ok(!matchesPattern('llama3-8b', '*3-?'));
    assert.ok(matchesPattern('', '*'));
  });

  it('stays below the root', () => {
    assert.deepEqual(candidates('../x.sh', 'a/b/c.sh'), ['a/x.sh']);
    assert.deepEqual(candidates('../../../x.sh', 'a/b/c.sh'), []);
    assert.deepEqual(candidates('<root>/a/../x.sh', 'q.sh'), ['x.sh']);
  });
});

describe('a shell script that does too much', () => {
  const LAUNCH = 'run --a 1 $PP $X';
  const evaluate = (script: string, others: Readonly<Record<string, string>> = {}) =>
    evaluateShell('a.sh', { 'a.sh': script, ...others }, (each) => each[0]?.[0]?.text === 'run');
  const told = (script: string): readonly string[] => words(script).map((each) => each.replace(/^\?.*/, '?'));
  const bombs: Readonly<Record<string, string>> = {
    'an array that grows': 'X+=(--x)\n'.repeat(2000),
    'a text that grows': 'X+=" --x"\n'.repeat(2000),
    'a variable that doubles': `X=aaaaaaaa\n${'X="$X$X$X$X"\n'.repeat(64)}`,
    'an array that doubles': `X=(--x)\n${'X=("${X[@]}" "${X[@]}")\n'.repeat(64)}`,
    'branches that double': `X=--x\n${'if a; then X="$X $X"; else X="$X -y $X"; fi\n'.repeat(64)}`,
    'functions that call each other': `X=--x\nf() { ${'g; '.repeat(40)} }\ng() { ${'h; '.repeat(40)} }\nh() { ${'i; '.repeat(40)} }\ni() { ${'X+=" --x"; '.repeat(40)} }\nf\n`,
  };
  for (const [name, bomb] of Object.entries(bombs)) {
    it(`still reads the launch after ${name}`, () => {
      const [flag, value, pp, x] = told(`PP=8\n${bomb}${LAUNCH}`);
      assert.deepEqual([flag, value, x], ['--a', '1', '?']);
      assert.equal(pp, name.startsWith('functions') ? '?' : '8');
    });
    it(`follows plain values after ${name}`, () => {
      assert.deepEqual(told(`${bomb}PP=8\nX=9\n${LAUNCH}`), ['--a', '1', '8', '9']);
    });
  }

  it('says once where the work went, in the line of the script at hand', () => {
    const script = `${'X+=(--x)\n'.repeat(2000)}${LAUNCH}`;
    const { overrun } = evaluate(script);
    assert.ok(overrun !== null);
    assert.equal(script.slice(overrun.offset, overrun.offset + overrun.length), 'X+=(--x)');
    const sourcing = evaluate(`source b.sh\n${LAUNCH}`, { 'b.sh': 'X+=(--x)\n'.repeat(2000) });
    assert.deepEqual([sourcing.overrun?.offset, sourcing.overrun?.length], [0, 'source b.sh'.length]);
    assert.equal(sourcing.commands.length, 1);
    for (const [name, bomb] of Object.entries(bombs)) {
      // What branches add is merged, and bounded there.
      assert.equal(evaluate(`${bomb}${LAUNCH}`).overrun !== null, !name.startsWith('branches'), name);
    }
    assert.equal(evaluate(`${'X=1\n'.repeat(2000)}${LAUNCH}`).overrun, null);
  });

  it('never takes a value that a branch past the budget may have changed', () => {
    const many = Array.from({ length: 4000 }, (_, i) => `V${i}=1\n`).join('');
    const spent = 'X+=(--x)\n'.repeat(2000);
    const script = (change: string) => `${many}PP=8\n${spent}if a; then ${change}; fi\nrun $PP`;
    assert.match(words(script('PP=4'))[0]!, /^\?/);
    assert.match(words(script('unset PP'))[0]!, /^\?/);
  });

  it('takes nothing for known after a call that is not followed', () => {
    const spent = 'X+=(--x)\n'.repeat(2000);
    const steps = ': \n'.repeat(140_000);
    assert.match(words(`PP=8\nf() { PP=4; }\n${spent}${steps}f\nrun $PP`)[0]!, /^\?/);
    assert.match(words(`PP=8\n${spent}${steps}source b.sh\nrun $PP`, { 'b.sh': 'PP=4' })[0]!, /^\?/);
  });

  it('reads very many statements', () => {
    for (const statement of ['true\n', 'true;', 'a|', 'a&&', 'A=1 ', 'A=1\n']) {
      const { commands } = evaluate(`${statement.repeat(200_000)}true\nrun 8`);
      assert.deepEqual(
        commands.map((each) => each.words.map((word) => argumentOf(word, NOWHERE).text)),
        [['run', '8']],
        statement,
      );
    }
  });
});

describe('a sourced script outside the root', () => {
  const cases: Readonly<Record<string, string>> = {
    'source ../../x.sh': '../../x.sh',
    '. /etc/passwd': '/etc/passwd',
    'source ~/x.sh': '~/x.sh',
  };
  for (const [source, path] of Object.entries(cases)) {
    it(`is named as the place of what is not set: ${source}`, () => {
      assert.deepEqual(words(`A=1\n${source}\nrun $A $PP`), [
        '1',
        `?$PP, which may be set in ${path}, outside the workspace`,
      ]);
    });
  }
});
