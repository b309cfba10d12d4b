import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { shellLine } from '../../../src/model/shell.ts';
import { startAgent } from '../../support/agent.ts';
import { orphan } from '../../support/orphan.ts';
import { childrenOf, rawProcess } from '../../support/proc.ts';
import type { Sandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';
import { PROGRAM, RUNNING } from './leaks.ts';
import { end, type Identity, lives } from './machine.ts';

export interface Bystander extends Identity {
  readonly what: string;
}

const program = (name: string): string => fileURLToPath(new URL(`./programs/${name}`, import.meta.url));

/** The words of a leak: what says them without its owner is nobody's leak. */
const twinOf = (ready: string): readonly string[] => ['perl', PROGRAM, 'plain', ready, 'lead'];

/** Work that must never be hurt: what stands, and what appears on numbers that others gave up. */
export class Bystanders {
  readonly #sandbox: Sandbox;
  readonly #log: string;
  readonly #standing: Bystander[] = [];
  readonly #hurt: string[] = [];
  recycled = 0;
  guarded = 0;

  private constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
    this.#log = sandbox.path('bystanders.log');
  }

  static async gather(sandbox: Sandbox): Promise<Bystanders> {
    const all = new Bystanders(sandbox);
    const ready = sandbox.path('ready-standing');
    const twin = shellLine(twinOf(ready));
    // A live session, with a child that looks like any leak.
    const agent = await startAgent(sandbox, { children: [twin, twin.replace(/lead$/, 'stay')] });
    all.#add(agent, 'a live session');
    for (const child of childrenOf(agent.pid)) all.#add(child, 'a child of a live session');
    all.#add(await orphan(sandbox, `nohup sleep 7777`, {}, 'nohup'), 'a nohup job');
    all.#add(await orphan(sandbox, twin, {}, 'twin'), 'a job with the words of a leak');
    // A tmux server that a dead session started hands that session's environment to everything in it.
    const dead = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: randomUUID() };
    sandbox.tmuxWith(dead, 'reaptop-test', 'new-session', '-d', '-s', 'main', `exec ${twin}`);
    sandbox.tmuxWith({}, 'reaptop-test', 'new-window', '-d', '-t', 'main', 'exec sleep 7777');
    sandbox.tmux('new-session', '-d', '-s', `agent_${RUNNING}`, 'exec sleep 7777');
    const panes = sandbox.tmux('list-panes', '-a', '-F', '#{pid} #{pane_pid}').split(/\s+/).map(Number);
    for (const pid of new Set(panes)) all.#add(rawProcess(pid)!, 'tmux and what runs in it');
    await until('the twins to be ready', () => existsSync(ready));
    return all;
  }

  #add({ pid, start }: Identity, what: string): void {
    this.#standing.push({ pid, start, what });
    this.guarded += 1;
  }

  /** Starts to take over these pids, each in the moment it is free. Returns what ends it. */
  hawk(prey: readonly Identity[], ready: string): () => void {
    const args = prey.map(({ pid }) => String(pid));
    const env = { STORM_TWIN: twinOf(ready).join('\t') };
    const { child, ...raw } = this.#sandbox.start(['perl', program('hawk.pl'), this.#log, ...args], { env });
    child.unref();
    return () => end(raw);
  }

  churn(maximum: number, daemons: number): () => void {
    const args = [this.#log, String(maximum), String(daemons)];
    const { child, ...raw } = this.#sandbox.start(['perl', program('churn.pl'), ...args]);
    child.unref();
    return () => end(raw);
  }

  #passing(): Bystander[] {
    if (!existsSync(this.#log)) return [];
    const lines = readFileSync(this.#log, 'utf8').split('\n');
    return lines.flatMap(line => {
      const [, pid, start, what] = /^bystander (\d+) (\S+) (.*)$/.exec(line) ?? [];
      return pid === undefined ? [] : [{ pid: Number(pid), start: start!, what: what! }];
    });
  }

  /** Who was hurt since the last time this was asked; those that only passed by are then sent away. */
  count(): string[] {
    const passing = this.#passing();
    const hurt = [...this.#standing, ...passing].filter(bystander => !lives(bystander));
    const text = existsSync(this.#log) ? readFileSync(this.#log, 'utf8') : '';
    this.recycled += text.match(/^recycled /gm)?.length ?? 0;
    this.guarded += passing.length;
    for (const bystander of passing) end(bystander);
    rmSync(this.#log, { force: true });
    for (const one of hurt) {
      const index = this.#standing.findIndex(({ pid, start }) => pid === one.pid && start === one.start);
      if (index >= 0) this.#standing.splice(index, 1);
    }
    const by = (pid: number): string =>
      new RegExp(`^struck ${pid} (\\w+)$`, 'm').exec(text)?.[1] ?? 'SIGKILL, or gone by itself';
    const said = hurt.map(({ pid, start, what }) => `${what} (${pid}:${start}, ${by(pid)})`);
    this.#hurt.push(...said);
    return said;
  }

  get hurt(): readonly string[] {
    return this.#hurt;
  }
}
