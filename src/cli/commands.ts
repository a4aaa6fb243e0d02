/**
 * The subcommands of `bubblelens`, one row each; each is loaded when it is asked for. Exit codes: 0 done, 1 findings at
 * or above the asked level, 2 could not run.
 */

import { version } from '../../package.json';
import type { Streams } from './streams.ts';

interface Command {
  readonly what: string;
  /** Runs with the arguments after the command's name; resolves to the exit code. */
  readonly run: (args: readonly string[], streams: Streams) => Promise<number>;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  explain: {
    what: 'report every plan in config files',
    run: async (args) => (await import('./explain.ts')).explain(args),
  },
  simulate: {
    what: 'simulate a schedule at given sizes and costs',
    run: async (args, streams) => (await import('./simulate.ts')).simulate(args, streams),
  },
  schedules: {
    what: 'list the schedules',
    run: (args, streams) =>
      list('schedules', args, streams, async () => {
        const { schedulesJson, schedulesText } = await import('./schedules.ts');
        return { schedules: schedulesJson, text: schedulesText };
      }),
  },
  readers: {
    what: 'list the files that can be read',
    run: (args, streams) =>
      list('readers', args, streams, async () => {
        const { readersJson, readersText } = await import('./readers.ts');
        return { readers: readersJson, text: readersText };
      }),
  },
};

/** A table as text, or with `--json` as `{ version, <name>: rows }`. */
async function list(
  name: string,
  args: readonly string[],
  { stdout, stderr }: Streams,
  load: () => Promise<Readonly<Record<string, () => unknown>>>,
): Promise<number> {
  const stray = args.find((arg) => arg !== '--json');
  if (stray !== undefined) {
    stderr.write(`bubblelens ${name}: it takes --json and nothing else, not "${stray}"\n`);
    return 2;
  }
  const table = await load();
  const text = args.includes('--json') ? JSON.stringify({ version: 1, [name]: table[name]!() }) : String(table.text!());
  stdout.write(`${text}\n`);
  return 0;
}

function usage(): string {
  const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length));
  const rows = Object.entries(COMMANDS).map(([name, command]) => `  ${name.padEnd(width)}  ${command.what}`);
  return ['usage: bubblelens COMMAND …', ...rows, '       bubblelens --version', ''].join('\n');
}

/** Runs the command that the arguments begin with; returns the exit code. */
export async function runCommand([name, ...args]: readonly string[], streams: Streams = process): Promise<number> {
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    streams.stdout.write(usage());
    return name === undefined ? 2 : 0;
  }
  if (name === '--version') {
    streams.stdout.write(`bubblelens ${version}\n`);
    return 0;
  }
  if (!Object.hasOwn(COMMANDS, name)) {
    const known = Object.keys(COMMANDS).join(', ');
    streams.stderr.write(`bubblelens: there is no command "${name}"; known: ${known}\n`);
    return 2;
  }
  return COMMANDS[name]!.run(args, streams);
}
