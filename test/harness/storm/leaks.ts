import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { shellLine } from '../../../src/model/shell.ts';
import { pipeline, writeAgent, writeRegistry } from '../../act/sweep/orchestrator.ts';
import { startAgent } from '../../support/agent.ts';
import { isRunning, type RawProcess, rawProcess } from '../../support/proc.ts';
import type { Sandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';
import { carrying, type Identity, keyOf, lives } from './machine.ts';

/** How a leak resists; `leak.pl` says what each does. */
export const HABITS = [
  'plain',
  'slow',
  'flees',
  'scatters',
  'quits',
  'stopped',
  'execs',
  'deaf',
  'forks',
  'tree',
  'heirs',
] as const;
export type Habit = (typeof HABITS)[number];

/** Those that are gone soon after TERM: for ways to clean whose grace cannot be chosen. */
export const WILLING: readonly Habit[] = ['plain', 'slow', 'flees', 'scatters', 'quits', 'stopped', 'execs'];

/** What one dead agent left. New members are found as they appear; each is known by when it was last seen running. */
export class Leaks {
  readonly #entry: string;
  readonly #seen = new Map<string, { readonly raw: RawProcess; lastSeen: number }>();

  /** `entry`: what all of them have in their environment, and nobody else. */
  private constructor(entry: string) {
    this.#entry = entry;
    this.look();
  }

  /** An agent starts them, registers, and is killed. */
  static async leave(sandbox: Sandbox, habits: readonly Habit[], turn: number): Promise<Leaks> {
    const session = randomUUID();
    const ready = sandbox.path(`ready-${session}`);
    const commands = habits.map((habit, index) =>
      shellLine(['perl', PROGRAM, habit, ready, (turn + index) % 3 === 0 ? 'stay' : 'lead']),
    );
    const agent = await startAgent(sandbox, { session, children: commands });
    await until('the leaks to be ready', () => {
      const told = existsSync(ready) ? readFileSync(ready, 'utf8').trim().split('\n').length : 0;
      return told >= habits.length;
    });
    process.kill(agent.pid, 'SIGKILL');
    await until('the agent to end', () => !isRunning(agent.pid, agent.start));
    await until('its children to be orphans', () =>
      carrying(`CLAUDE_CODE_SESSION_ID=${session}`).every(p => rawProcess(p.pid)?.ppid !== agent.pid),
    );
    return new Leaks(`CLAUDE_CODE_SESSION_ID=${session}`);
  }

  /** The sessions of agents that have finished: a shell around the rest of each one's pipeline. */
  static async finish(sandbox: Sandbox, turn: number): Promise<Leaks> {
    const mark = randomUUID();
    const ids = [`tester-${turn}-a`, `tester-${turn}-b`];
    for (const id of ids) writeAgent(sandbox, id, { finished: true });
    writeAgent(sandbox, RUNNING, { finished: false, ageSeconds: 5 });
    const finished = Object.fromEntries(ids.map(id => [id, 'completed']));
    writeRegistry(sandbox, { ...finished, [RUNNING]: 'running' });
    for (const [n, id] of ids.entries()) {
      const command = `${n === 0 ? '' : "trap '' TERM; "}${pipeline(sandbox)}`;
      sandbox.tmux('new-session', '-d', '-e', `STORM=${mark}`, '-s', `agent_${id}`, command);
    }
    await until('the panes to run', () => carrying(`STORM=${mark}`).length >= 3 * ids.length);
    return new Leaks(`STORM=${mark}`);
  }

  /** Who runs now. */
  look(): RawProcess[] {
    const now = carrying(this.#entry);
    const at = Date.now();
    for (const raw of now) {
      const known = this.#seen.get(keyOf(raw));
      if (known === undefined) this.#seen.set(keyOf(raw), { raw, lastSeen: at });
      else known.lastSeen = at;
    }
    return now;
  }

  get known(): Identity[] {
    return [...this.#seen.values()].map(({ raw }) => raw);
  }

  has(identity: Identity): boolean {
    return this.#seen.has(keyOf(identity));
  }

  lastSeen(identity: Identity): number | null {
    return this.#seen.get(keyOf(identity))?.lastSeen ?? null;
  }

  get living(): Identity[] {
    this.look();
    return this.known.filter(lives);
  }
}

/** The agent of the orchestrator that is still at work. */
export const RUNNING = 'worker-running';

export const PROGRAM = fileURLToPath(new URL('./programs/leak.pl', import.meta.url));
