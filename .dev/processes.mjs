// Starting and ending other programs, always by argument arrays and never through a shell.
// Long-lived ones (the editor's server) get a process group of their own, so that ending
// the group ends whatever they started too.

import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';

/** A tool failed, or is not there. `message` is one line for the user. */
export class ToolError extends Error {
  constructor(message, output = '') {
    super(message);
    this.name = 'ToolError';
    this.output = output;
  }
}

/** The absolute path of a program on PATH, or undefined. */
export function which(name) {
  for (const folder of (process.env.PATH ?? '').split(path.delimiter)) {
    const candidate = path.join(folder || '.', name);
    try {
      accessSync(candidate, constants.X_OK);
      return candidate;
    } catch {
      // Not in this folder.
    }
  }
  return undefined;
}

/**
 * Runs a program to its end. With `show` its output goes to the terminal, else it is
 * collected. Resolves to `{ code, output }`; a signal counts as code 1.
 */
export function run(command, args, { show = false, ...options } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { ...options, stdio: show ? 'inherit' : ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const collect = (chunk) => {
      output += chunk;
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    child.on('error', (error) => resolve({ code: 127, output: `${output}${error.message}\n` }));
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

/** Like `run`, but throws a ToolError that names the program when it fails. */
export async function must(command, args, options) {
  const { code, output } = await run(command, args, options);
  if (code !== 0) {
    const shown = [path.basename(command), ...args].join(' ');
    throw new ToolError(`${shown} failed with code ${code}`, output);
  }
  return output;
}

/** The environment for a nested npm: without what the outer npm says about this package. */
export function npmEnvironment(extra = {}) {
  const env = { ...process.env };
  for (const key of Object.keys(env)) {
    if (/^npm_(package|lifecycle|config_local_prefix|command|execpath)/.test(key)) delete env[key];
  }
  return { ...env, ...extra };
}

/** Ends a process group: politely first, by force after `graceMs`. */
export async function endGroup(child, graceMs = 2000) {
  if (!child.pid) return;
  const signal = (name) => {
    try {
      process.kill(-child.pid, name);
      return true;
    } catch {
      return false;
    }
  };
  if (!signal('SIGTERM')) return;
  const deadline = Date.now() + graceMs;
  while (Date.now() < deadline && signal(0)) await new Promise((resolve) => setTimeout(resolve, 25));
  signal('SIGKILL');
}
