import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fchmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { notInstalled } from './lacking.ts';
import { inExec, isRunning, pidsWithEnv, type RawProcess, rawProcess, uptime } from './proc.ts';
import { removed, until } from './until.ts';

/** Everything a test starts carries this variable, so that leftovers can be found whatever their parent. */
export const MARK = 'REAPTOP_TEST_MARK';

/** A program may clear its environment for good: it is not waited for longer. */
const MOST_EXEC_SECONDS = 2;

/** Code caches that sandboxes of this run left: without them every first run of a command takes 70 ms of CPU more. */
const CACHES = process.env.REAPTOP_TEST_CACHES;

/** They are never written to, only replaced. */
const linkCaches = (from: string, to: string): void => {
  for (const name of readdirSync(from)) {
    if (!name.endsWith('.cache') || existsSync(join(to, name))) continue;
    try {
      linkSync(join(from, name), join(to, name));
    } catch {
      // another test was quicker, or it is not ours
    }
  }
};

/** The environment of a person's shell: nothing of the agent or the CI that may be running the tests. */
export const plainEnv = (): NodeJS.ProcessEnv => {
  const env: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (!/^(CLAUDE.*|AI_AGENT|TMUX.*|CI|NO_COLOR|FORCE_COLOR|NODE_ENV|VITEST.*|XDG_.*)$/.test(name))
      env[name] = value;
  }
  return env;
};

export interface StartOptions {
  env?: Record<string, string>;
  cwd?: string;
  argv0?: string;
  /** Own session, as setsid(1) would give; the default, because what shares reaptop's process group is protected. */
  detached?: boolean;
  stdio?: 'ignore' | 'pipe';
}

/**
 * A private corner of the machine for one test: its own HOME, XDG directories, tmux socket
 * directory and processes. `close()` ends every process that was started below it, by pid
 * and start time, and removes the directory.
 */
export class Sandbox {
  readonly dir = mkdtempSync(join(tmpdir(), 'reaptop-test-'));
  readonly home = join(this.dir, 'home');
  readonly mark = `${process.env.REAPTOP_TEST_RUN ?? 'solo'}.${randomBytes(6).toString('hex')}`;
  readonly #children: ChildProcess[] = [];
  readonly #since = uptime();
  readonly #caches: string | null;

  /** `firstRun`: nothing of reaptop has run for this user, or it is another copy of the program that runs. */
  constructor({ firstRun = false } = {}) {
    for (const dir of [this.home, this.path('bin'), this.path('work'), this.path('tmux')])
      mkdirSync(dir, { recursive: true, mode: 0o700 });
    this.#caches = firstRun || CACHES === undefined ? null : join(this.home, '.cache/reaptop');
    if (this.#caches === null) return;
    mkdirSync(this.#caches, { recursive: true, mode: 0o700 });
    linkCaches(CACHES!, this.#caches);
  }

  path(...parts: string[]): string {
    return join(this.dir, ...parts);
  }

  get env(): NodeJS.ProcessEnv {
    return {
      ...plainEnv(),
      HOME: this.home,
      XDG_CONFIG_HOME: join(this.home, '.config'),
      XDG_STATE_HOME: join(this.home, '.local/state'),
      XDG_CACHE_HOME: join(this.home, '.cache'),
      TMUX_TMPDIR: this.path('tmux'),
      [MARK]: this.mark,
    };
  }

  write(relative: string, content: string, mode = 0o644): string {
    const path = this.path(relative);
    mkdirSync(join(path, '..'), { recursive: true });
    // A sleeper of this name is a link to the machine's own sleep: as root it would be that which is written over.
    // A program may be in the middle of its exec, and cannot be written to then.
    const there = lstatSync(path, { throwIfNoEntry: false });
    // Its interpreter may not have read it yet.
    const isProgram = there?.isFile() === true && (mode & 0o111) !== 0;
    if (isProgram && readFileSync(path, 'utf8') === content) return path;
    if (there?.isSymbolicLink() || isProgram) unlinkSync(path);
    // By its descriptor: whoever waits for the file may have taken it away already.
    const fd = openSync(path, 'w', mode);
    try {
      writeFileSync(fd, content);
      fchmodSync(fd, mode);
    } finally {
      closeSync(fd);
    }
    return path;
  }

  /** A program called `name` that simply sleeps: a symlink, so comm and argv[0] carry the name. */
  sleeper(name: string): string {
    const path = this.path('bin', name);
    if (!existsSync(path)) {
      mkdirSync(join(path, '..'), { recursive: true });
      symlinkSync('/bin/sleep', path);
    }
    return path;
  }

  /** A script called `name` that stays, with any arguments: `sh …/name args`, as console scripts are. */
  script(name: string): string {
    return this.write(`bin/${name}`, '#!/bin/sh\nsleep 600 &\nwait\n', 0o755);
  }

  start(
    argv: readonly [string, ...string[]],
    options: StartOptions = {},
  ): RawProcess & { child: ChildProcess } {
    const [command, ...args] = argv;
    const child = spawn(command, args, {
      cwd: options.cwd ?? this.path('work'),
      env: { ...this.env, ...options.env },
      stdio: options.stdio === 'pipe' ? ['pipe', 'pipe', 'pipe'] : 'ignore',
      detached: options.detached ?? true,
      ...(options.argv0 === undefined ? {} : { argv0: options.argv0 }),
    });
    child.on('error', () => {}); // reported below: no pid
    if (child.pid === undefined) throw new Error(`could not start ${argv.join(' ')}`);
    this.#children.push(child);
    const raw = rawProcess(child.pid);
    if (raw === null) throw new Error(`${argv.join(' ')} ended at once`);
    return { ...raw, child };
  }

  /** Running processes started in this sandbox, directly or not. */
  running(): RawProcess[] {
    return pidsWithEnv(`${MARK}=${this.mark}`)
      .map(rawProcess)
      .filter((p): p is RawProcess => p !== null && p.state !== 'Z' && p.pid !== process.pid);
  }

  /** Waits until exactly one running process of this sandbox satisfies the predicate. */
  async find(what: string, predicate: (p: RawProcess) => boolean): Promise<RawProcess> {
    return until(what, () => {
      const found = this.running().filter(predicate);
      return found.length === 1 ? found[0] : undefined;
    });
  }

  tmux(...args: string[]): string {
    return this.tmuxWith({}, 'reaptop-test', ...args);
  }

  /** The test goes on only where tmux is installed. */
  needsTmux(): void {
    this.tmux('-V');
  }

  /** A tmux command on a socket of its own; a server it starts keeps these extra variables. */
  tmuxWith(env: Record<string, string>, socket: string, ...args: string[]): string {
    const result = spawnSync('tmux', ['-L', socket, ...args], {
      env: { ...this.env, ...env, TERM: 'xterm-256color', LC_ALL: 'C.UTF-8' },
      cwd: this.path('work'),
      encoding: 'utf8',
    });
    if (result.error) notInstalled('tmux', 'tmux');
    if (result.status !== 0) throw new Error(`tmux ${args.join(' ')}: ${result.stderr}`);
    return result.stdout.trim();
  }

  async close(): Promise<void> {
    // Ended by identity, and only what carries our mark: nothing else is ever signalled.
    const killAll = (): boolean => {
      const left = this.running();
      for (const p of left) if (isRunning(p.pid, p.start)) process.kill(p.pid, 'SIGKILL');
      return left.length === 0;
    };
    // What was forked in the last moment of its parent may not be known by its mark yet.
    const patience = uptime() + MOST_EXEC_SECONDS;
    const settled = (): boolean => inExec(this.#since).length === 0 || uptime() > patience;
    await until('every process of the sandbox to end', () => {
      try {
        return killAll() && settled() && killAll();
      } catch {
        return false; // one of them vanished between the look and the signal
      }
    });
    for (const child of this.#children) child.removeAllListeners();
    if (this.#caches !== null && existsSync(this.#caches)) linkCaches(this.#caches, CACHES!);
    await removed(this.dir);
  }
}
