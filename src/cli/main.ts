/**
 * `bubblelens`: the command line. One row per subcommand; each is loaded when it is asked for. Exit codes: 0 done,
 * 1 findings at or above the asked level, 2 could not run.
 */

interface Command {
  readonly what: string;
  /** Runs with the arguments after the command's name; resolves to the exit code. */
  readonly run: (args: readonly string[]) => Promise<number>;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  explain: {
    what: 'report every plan in config files',
    run: async (args) => (await import('./explain.ts')).explain(args),
  },
  simulate: {
    what: 'simulate a schedule at given sizes and costs',
    run: async (args) => (await import('./simulate.ts')).simulate(args),
  },
  schedules: {
    what: 'list the schedules',
    run: (args) =>
      list('schedules', args, async () => {
        const { schedulesJson, schedulesText } = await import('./schedules.ts');
        return { schedules: schedulesJson, text: schedulesText };
      }),
  },
  readers: {
    what: 'list the files that can be read',
    run: (args) =>
      list('readers', args, async () => {
        const { readersJson, readersText } = await import('./readers.ts');
        return { readers: readersJson, text: readersText };
      }),
  },
};

/** A table as text, or with `--json` as `{ version, <name>: rows }`. */
async function list(
  name: string,
  args: readonly string[],
  load: () => Promise<Readonly<Record<string, () => unknown>>>,
): Promise<number> {
  const stray = args.find((arg) => arg !== '--json');
  if (stray !== undefined) {
    process.stderr.write(`bubblelens ${name}: it takes --json and nothing else, not "${stray}"\n`);
    return 2;
  }
  const table = await load();
  const text = args.includes('--json') ? JSON.stringify({ version: 1, [name]: table[name]!() }) : String(table.text!());
  process.stdout.write(`${text}\n`);
  return 0;
}

function usage(): string {
  const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length));
  const rows = Object.entries(COMMANDS).map(([name, command]) => `  ${name.padEnd(width)}  ${command.what}`);
  return ['usage: bubblelens COMMAND …', ...rows, ''].join('\n');
}

async function main([name, ...args]: readonly string[]): Promise<number> {
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(usage());
    return name === undefined ? 2 : 0;
  }
  if (!Object.hasOwn(COMMANDS, name)) {
    const known = Object.keys(COMMANDS).join(', ');
    process.stderr.write(`bubblelens: there is no command "${name}"; known: ${known}\n`);
    return 2;
  }
  return COMMANDS[name]!.run(args);
}

// A reader that goes away early (`| head`) ends the program without a word.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`bubblelens: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 2;
  },
);
