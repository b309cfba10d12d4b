import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CLI, type CliResult } from '../cli.ts';
import { lacking } from '../lacking.ts';
import type { Sandbox } from '../sandbox.ts';

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const TOOLS = ['ps', 'lsof', 'launchctl', 'sysctl', 'top'];

/** The directory of a Mac's tools, for PATH. */
export const macTools = (sandbox: Sandbox): string => {
  for (const tool of TOOLS)
    sandbox.write(
      `mac/${tool}`,
      `#!/bin/sh\nexec '${process.execPath}' '${here('./tool.mjs')}' ${tool} "$@"\n`,
      0o755,
    );
  return sandbox.path('mac');
};

/** In a mount namespace: /proc is empty, as there is none on a Mac; the real one is at `$1`, for the tools alone. */
const HIDE_PROC = 'mount --rbind /proc "$1" && mount -t tmpfs none /proc && shift && exec "$@"';

/** A stand-in for a Mac around a sandbox: its tools, no /proc, and a program that believes in it. */
export class Mac {
  readonly #sandbox: Sandbox;
  readonly jobs: string;

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
    this.jobs = sandbox.path('launchd-jobs');
    mkdirSync(sandbox.path('real-proc'));
    macTools(sandbox);
    if (spawnSync(...this.#inside(['true'])).status !== 0)
      lacking('this user may not hide /proc in a mount namespace');
  }

  #inside(command: readonly string[]): [string, string[]] {
    const asUser = process.getuid!() === 0 ? [] : ['--user', '--map-current-user', '--keep-caps'];
    return [
      'unshare',
      [...asUser, '--mount', 'sh', '-c', HIDE_PROC, 'sh', this.#sandbox.path('real-proc'), ...command],
    ];
  }

  /** An ordinary user needs a user namespace to hide /proc, and from there nobody may look into processes outside. */
  needsToRead(): void {
    const [file, args] = this.#inside(['readlink', `${this.#sandbox.path('real-proc')}/${process.pid}/cwd`]);
    if (spawnSync(file, args).status !== 0)
      lacking('this user may not look into other processes where /proc is hidden');
  }

  get env(): NodeJS.ProcessEnv {
    const { env } = this.#sandbox;
    return {
      ...env,
      PATH: `${this.#sandbox.path('mac')}:${this.#sandbox.path('bin')}:${env.PATH}`,
      MAC_PROC: this.#sandbox.path('real-proc'),
      MAC_JOBS: this.jobs,
    };
  }

  /** The words that run the program there, for tests that start it themselves. */
  command(args: readonly string[]): [string, string[]] {
    return this.#inside([process.execPath, '--require', here('./platform.cjs'), CLI, ...args]);
  }

  reaptop(args: readonly string[], env: NodeJS.ProcessEnv = {}, input = ''): Promise<CliResult> {
    return new Promise((resolve, reject) => {
      const child = spawn(...this.command(args), {
        env: { ...this.env, ...env },
        cwd: this.#sandbox.path('work'),
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      let [stdout, stderr] = ['', ''];
      child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
      child.on('error', reject);
      child.on('close', code => resolve({ code, stdout, stderr }));
      child.stdin.on('error', () => {});
      child.stdin.end(input);
    });
  }
}
