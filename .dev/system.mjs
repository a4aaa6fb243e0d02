// What the tools need from the operating system: a Chromium for the editor's window, fonts
// so that its text is visible, and a C++ compiler with Python for two small native modules
// of the editor's server. What is missing is installed where that is possible (root on a
// Debian-like system, as on most build machines); anywhere else one line says what to install.

import { existsSync } from 'node:fs';
import { must, run, ToolError, which } from './processes.mjs';

const chromiumNames = ['google-chrome', 'chromium', 'chromium-browser'];
const compilerNames = ['g++', 'c++', 'clang++'];

/** Something the tools need is missing and cannot be installed from here. */
export class MissingToolError extends ToolError {
  constructor(message, output) {
    super(message, output);
    this.name = 'MissingToolError';
  }
}

/** The path of a Chromium, or undefined. BUBBLELENS_CHROMIUM goes first. */
export function findChromium() {
  const asked = process.env.BUBBLELENS_CHROMIUM;
  if (asked && !existsSync(asked)) throw new MissingToolError(`BUBBLELENS_CHROMIUM names no file: ${asked}`);
  if (asked) return asked;
  for (const name of chromiumNames) {
    const found = which(name);
    if (found) return found;
  }
  return existsSync('/usr/bin/chromium') ? '/usr/bin/chromium' : undefined;
}

/** The path of a Chromium with fonts to draw text, installed if need be. */
export async function ensureChromium() {
  let chromium = findChromium();
  if (!chromium) {
    await install('Chromium', ['chromium', 'fonts-dejavu-core', 'fontconfig']);
    chromium = findChromium();
    if (!chromium) throw new MissingToolError('Chromium was installed, but no chromium program is on PATH.');
  } else if (!(await hasFonts())) {
    await install('fonts', ['fonts-dejavu-core', 'fontconfig']).catch((error) => console.warn(error.message));
  }
  return chromium;
}

/** Makes sure that native modules can be compiled. */
export async function ensureCompiler() {
  const ready = () => compilerNames.some(which) && which('make') && which('python3');
  if (ready()) return;
  await install('a C++ compiler', ['g++', 'make', 'python3']);
  if (!ready()) throw new MissingToolError('A C++ compiler, make and python3 were installed, but are not on PATH.');
}

async function hasFonts() {
  if (!which('fc-list')) return existsSync('/usr/share/fonts/truetype') || process.platform !== 'linux';
  const { output } = await run('fc-list', []);
  return output.trim() !== '';
}

let lastInstall = Promise.resolve();

/** Installs packages, one call after the other: the package manager has one lock. */
function install(what, packages) {
  const mine = lastInstall.then(() => aptInstall(what, packages));
  lastInstall = mine.catch(() => undefined);
  return mine;
}

async function aptInstall(what, packages) {
  if (process.getuid?.() !== 0 || !which('apt-get')) {
    const hint = what === 'Chromium' ? ' (or point BUBBLELENS_CHROMIUM at a browser)' : '';
    throw new MissingToolError(`${what} is missing: please install ${packages.join(', ')}${hint}.`);
  }
  console.log(`Installing ${what}: ${packages.join(', ')}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const lock = ['-o', 'DPkg::Lock::Timeout=300'];
  const args = [...lock, 'install', '-y', '--no-install-recommends', ...packages];
  for (let attempt = 1; ; attempt++) {
    try {
      await must('apt-get', [...lock, 'update'], { env });
      await must('apt-get', args, { env });
      return;
    } catch (error) {
      // Another installation may hold a lock that apt does not wait for.
      if (attempt === 3) throw new MissingToolError(`${what} could not be installed: ${error.message}`, error.output);
      await new Promise((resolve) => setTimeout(resolve, 5000 * attempt));
    }
  }
}
