import { spawn } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { until } from '../../../support/until.ts';
import { INSIDE, USER } from '../sandbox.ts';
import type { StandIn } from '../stand-in/stand-in.ts';
import { identityOf, type Truth } from '../truth.ts';
import { below, everybody, lasting, type Seen, stillRuns } from './table.ts';
import { PATIENCE, TmuxTerminal, tmux } from './terminal.ts';

/** The machine of one scene, seen by its invented user. */
export class Stage {
  readonly home = USER.home;
  readonly claims = new Map<string, Truth>();
  /** Findings that this scene must show besides leaks, and no others. */
  readonly findings = new Set<string>();
  /** What a reader of the report should know: how far an agent could be brought. */
  readonly notes: string[] = [];
  readonly standIn: StandIn;
  readonly env: NodeJS.ProcessEnv;

  constructor(standIn: StandIn) {
    this.standIn = standIn;
    this.env = {
      ...process.env,
      ANTHROPIC_BASE_URL: standIn.url,
      ANTHROPIC_API_KEY: 'sk-ant-invented-0000000000000000000000000000',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_TELEMETRY: '1',
      DISABLE_AUTOUPDATER: '1',
    };
    mkdirSync(this.path('work'), { recursive: true });
    symlinkSync(join(INSIDE.agents, 'node_modules'), this.path('work/node_modules')); // so that npx need not ask
    this.write('.bash_profile', `PATH='${process.env.PATH}'\n`); // a login shell begins with the machine's own
  }

  path(...parts: string[]): string {
    return join(this.home, ...parts);
  }

  write(relative: string, content: string | object, mode = 0o644): string {
    const path = this.path(relative);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2), { mode });
    return path;
  }

  /** A terminal with a shell; the first one starts the user's tmux server. */
  async terminal(name: string, cwd = this.path('work')): Promise<TmuxTerminal> {
    mkdirSync(cwd, { recursive: true });
    const terminal = new TmuxTerminal(this.env, name, cwd);
    const server = Number(tmux(this.env, 'display-message', '-p', '-t', `=${name}:`, '#{pid}'));
    this.is(server, { what: 'the tmux server', verdict: 'protected', kind: 'tmux', owner: null });
    await until('the shell of the terminal', () =>
      everybody().find(seen => seen.pid === terminal.pid && /bash/.test(seen.command)),
    );
    this.is(terminal.pid, { what: `the shell in ${name}`, verdict: ['live', 'unknown'], kind: 'shell' });
    return terminal;
  }

  /** Starts a command whose starter ends at once, as `setsid COMMAND &` in a shell that is then closed. */
  async detached(command: string, env: NodeJS.ProcessEnv = {}, cwd = this.path('work')): Promise<Seen> {
    const told = this.path(`.detached-${this.claims.size}-${process.hrtime.bigint()}`);
    const starter = spawn(
      'sh',
      ['-c', `setsid sh -c 'echo $$ > ${told}; exec "$@"' sh ${command} </dev/null >>${told}.log 2>&1 &`],
      { env: { ...this.env, ...env }, cwd, stdio: 'ignore', detached: true },
    );
    await new Promise(done => starter.on('exit', done));
    const { readFileSync } = await import('node:fs');
    const pid = await until('a detached command to say its pid', () =>
      Number(readFileSync(told, 'utf8').trim()),
    );
    return this.seen(`${command} to be adopted by PID 1`, seen => seen.pid === pid && seen.ppid === 1);
  }

  /** Waits for the one process that satisfies the predicate. */
  seen(what: string, predicate: (seen: Seen) => boolean): Promise<Seen> {
    return until(
      what,
      () => {
        const found = everybody().filter(predicate);
        return found.length === 1 ? found[0] : undefined;
      },
      PATIENCE,
    );
  }

  /** Waits for at least one. */
  some(what: string, predicate: (seen: Seen) => boolean): Promise<Seen> {
    return until(what, () => everybody().find(predicate), PATIENCE);
  }

  /** Waits for exactly so many. */
  several(what: string, count: number, predicate: (seen: Seen) => boolean): Promise<readonly Seen[]> {
    return until(
      what,
      () => {
        const found = everybody().filter(predicate);
        return found.length === count ? found : undefined;
      },
      PATIENCE,
    );
  }

  /** What PID 1 has adopted and nobody has claimed, when everything has come to rest. */
  async strays(command: RegExp): Promise<readonly Seen[]> {
    await this.settled();
    return everybody().filter(seen => seen.ppid === 1 && command.test(seen.command) && !this.knows(seen));
  }

  /** The process below this one whose command looks so. */
  child(of: number, command: RegExp): Promise<Seen> {
    return this.seen(`${command} below ${of}`, seen => {
      if (!command.test(seen.command) || seen.pid === of) return false;
      return below(of).some(other => other.pid === seen.pid);
    });
  }

  childrenOf(parent: Seen): readonly Seen[] {
    return everybody().filter(seen => seen.ppid === parent.pid);
  }

  /** Says what a process is, and with it everything below it that nobody else claims. */
  is(process: number | Seen, truth: Truth): void {
    const seen = typeof process === 'number' ? everybody().find(other => other.pid === process) : process;
    if (seen === undefined) throw new Error(`${truth.what}: no process ${process}`);
    this.claims.set(identityOf(seen), truth);
  }

  knows(seen: Seen): boolean {
    return this.claims.has(identityOf(seen));
  }

  async gone(seen: Seen): Promise<void> {
    await until(`${seen.command} to end`, () => !stillRuns(seen), PATIENCE);
  }

  /** What of these is still there. */
  left(processes: readonly Seen[]): readonly Seen[] {
    return processes.filter(stillRuns);
  }

  /** Ends processes as an out-of-memory killer does, and waits until they are gone. */
  async kill(processes: readonly Seen[], signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    for (const seen of processes) if (stillRuns(seen)) process.kill(seen.pid, signal);
    await until('killed processes to end', () => !processes.some(stillRuns), PATIENCE);
  }

  /** Waits until the table of processes has been the same for a while. */
  async settled(stillMs = 1800): Promise<void> {
    let before = '';
    let since = Date.now();
    await until(
      'the processes of the scene to settle',
      () => {
        const now = lasting().map(identityOf).join();
        if (now !== before) since = Date.now();
        before = now;
        return Date.now() - since >= stillMs;
      },
      PATIENCE,
    );
  }
}
