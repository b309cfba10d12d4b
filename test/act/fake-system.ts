import type { Clock } from '../../src/act/clock.ts';
import type { Identity } from '../../src/model/identity.ts';
import type { Plan, SignalName, Step } from '../../src/model/plan.ts';
import type { ProcessFacts } from '../../src/model/process.ts';
import type { Presence, System } from '../../src/observe/system.ts';
import { invent, PIPED, SELF, snapshotOf } from '../judge/plan/machine.ts';

/** Whoever talked to it has gone, and nobody else uses it. */
const LEFT = { ...PIPED, cgroup: '', stdin: 'abandoned-socket' } as const;
const STILL = { cpu: 0, bytes: 0 } as const;

/** What a process of the fake machine does with a signal; nothing: TERM and KILL end it. */
type Reaction = (signal: SignalName, machine: FakeSystem) => void;

/** A machine in memory that fills the system contract: for what real processes cannot be made to do. */
export class FakeSystem implements System {
  backend: System['backend'] = 'procfs';
  readOnly: string | null = null;
  readonly sent: string[] = [];
  readonly #processes = new Map<number, ProcessFacts>();
  readonly #reactions = new Map<number, Reaction>();
  readonly denied = new Set<number>();
  readonly unreadable = new Set<number>();
  lookFails: string | null = null;
  #now = 0;

  constructor() {
    this.add(1, 0, { uid: 0, comm: 'init' });
    this.add(800, 1, { born: 2 });
    this.add(SELF, 800);
  }

  /** Time passes only while somebody waits. */
  readonly clock: Clock = {
    now: () => this.#now,
    wait: async ms => {
      this.#now += ms;
    },
  };

  add(pid: number, ppid: number, facts: Partial<ProcessFacts> = {}, reaction?: Reaction): Identity {
    const made = invent(pid, ppid, { facts: { env: {}, details: LEFT, activity: STILL, ...facts } }).facts;
    this.#processes.set(pid, made);
    if (reaction !== undefined) this.#reactions.set(pid, reaction);
    return { pid, start: made.start };
  }

  change(pid: number, facts: Partial<ProcessFacts>): void {
    const now = this.#processes.get(pid);
    if (now !== undefined) this.#processes.set(pid, { ...now, ...facts });
  }

  remove(pid: number): void {
    this.#processes.delete(pid);
    for (const [child, facts] of this.#processes) if (facts.ppid === pid) this.change(child, { ppid: 1 });
  }

  has(pid: number): boolean {
    return this.#processes.has(pid);
  }

  async sample() {
    if (this.lookFails !== null) throw new Error(this.lookFails);
    const { host, self } = snapshotOf([]);
    const processes = [...this.#processes.values()];
    return {
      takenAt: 0,
      clock: 1000 + this.#now / 1000,
      host,
      self,
      processes,
      complete: true,
      warnings: [],
    };
  }

  presence(pid: number): Presence {
    if (this.unreadable.has(pid)) return { status: 'unreadable', why: 'hidden' };
    const p = this.#processes.get(pid);
    if (p === undefined) return { status: 'gone' };
    const { start, state, ppid, pgid, sid, rss } = p;
    return { status: 'present', identity: { pid, start }, state, ppid, pgid, sid, rss };
  }

  /** As kill(2) does: by the bare pid, whoever has it now. That it is the right one is for `act` to check. */
  deliver(pid: number, signal: SignalName): void {
    if (this.denied.has(pid)) throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' });
    if (!this.#processes.has(pid)) throw Object.assign(new Error('kill ESRCH'), { code: 'ESRCH' });
    this.sent.push(`${pid} ${signal}`);
    const reaction = this.#reactions.get(pid);
    if (reaction !== undefined) reaction(signal, this);
    else if (signal === 'SIGTERM' || signal === 'SIGKILL') this.remove(pid);
  }

  async environ() {
    return new Map();
  }
  async details() {
    return new Map();
  }
  async proportionalMemory(): Promise<number | null> {
    return null;
  }
  follow(): void {}
  close(): void {}
}

/** A plan written by hand, leaves first as given. */
export const planOf = (
  steps: readonly (Identity & Partial<Step>)[],
  root: Identity | undefined = steps.at(-1),
): Plan => ({
  steps: steps.map(step => ({
    name: `p${step.pid}`,
    command: `p${step.pid}`,
    signal: 'SIGTERM',
    rss: 100,
    ageSeconds: 5000,
    why: 'asked for',
    root: root ?? step,
    stopped: false,
    confirm: false,
    ...step,
  })),
  refused: [],
  files: [],
  bytes: 100 * steps.length,
});
