/** `bubblelens`: the entry of the command line. */

import { runCommand } from './commands.ts';

// A reader that goes away early (`| head`) ends the program without a word.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

runCommand(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`bubblelens: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 2;
  },
);
