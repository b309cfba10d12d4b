import type { Collector } from '../../src/engine/collector.ts';
import { Guard, type LookReport } from '../../src/guard/guard.ts';
import { Memory } from '../../src/guard/memory.ts';
import type { JudgedSnapshot } from '../../src/judge/judge.ts';
import { Lineage } from '../../src/judge/rules/lineage.ts';
import type { GuardPolicy } from '../../src/model/config.ts';
import { DEFAULT_CONFIG } from '../../src/model/config-defaults.ts';
import type { FindingId } from '../../src/model/finding.ts';
import type { PressureFacts } from '../../src/model/health.ts';
import type { Outcome } from '../../src/model/plan.ts';
import type { JudgedProcess } from '../../src/model/snapshot.ts';
import { FakeSystem } from '../act/fake-system.ts';
import { HOUSE, invent, snapshotOf } from '../judge/plan/machine.ts';

/** No kernel gives this number out: it is nobody's, not even this test's own. */
export const LEAK = 5_000_000;

interface Setting {
  /** The state directory. */
  readonly directory?: string | null;
  /** Seconds of the clock on the wall. */
  readonly wall?: number;
  readonly policy?: Partial<GuardPolicy>;
  readonly abort?: AbortSignal;
  readonly pressure?: PressureFacts;
  /** After each look, with how many there were. */
  readonly onLook?: (looks: number) => unknown;
}

/** Guard on a machine in memory with one leak, and clocks that only the test moves. */
export class Scene {
  readonly system = new FakeSystem();
  readonly said: string[] = [];
  readonly looks: LookReport[] = [];
  readonly outcomes: Outcome[] = [];
  readonly guard: Guard;
  /** Processes beside the leak, and findings. */
  others: readonly JudgedProcess[] = [];
  findings: readonly { readonly id: FindingId; readonly pid: number }[] = [];
  /** How often every process was judged, as a plan or a sweep asks for it. */
  judgedAll = 0;
  /** Seconds: ours, the machine's since its boot, and the wall's. */
  monotonic = 0;
  uptime = 10_000;
  wall = Date.UTC(2026, 10, 16) / 1000;
  fails = false;

  constructor({ directory = null, wall, policy = {}, abort, pressure, onLook }: Setting = {}) {
    if (wall !== undefined) this.wall = wall;
    this.system.add(LEAK, 1);
    const own = { status: 'present', identity: { pid: process.pid, start: 'own' } } as const;
    const presence = this.system.presence.bind(this.system);
    this.system.presence = pid =>
      pid === process.pid ? { ...own, state: 'R', ppid: 1, pgid: 1, sid: 1, rss: 0 } : presence(pid);
    this.guard = new Guard({
      collector: {
        collect: async ({ all }: { all?: boolean }) => this.#moment(all === true),
        lineage: new Lineage(),
      } as unknown as Collector,
      system: this.system,
      config: {
        ...DEFAULT_CONFIG,
        policy: { ...DEFAULT_CONFIG.policy, sweep: false, staleFiles: false, ...policy },
      },
      intervalSeconds: 10,
      graceMs: 1000,
      directory,
      memory: new Memory(this.system, directory),
      abort: abort ?? new AbortController().signal,
      say: line => this.said.push(line),
      onLook: look => {
        this.looks.push(look);
        onLook?.(this.looks.length);
      },
      onOutcomes: outcomes => this.outcomes.push(...outcomes),
      // A timer never fires early: a few milliseconds more have passed.
      clock: { now: () => this.monotonic * 1000, wait: async ms => this.#wait(ms / 1000 + 0.005) },
      wall: () => this.wall * 1000,
      uptime: () => this.uptime,
      ...(pressure === undefined ? {} : { pressure: () => pressure }),
    });
  }

  #moment(all: boolean): JudgedSnapshot {
    if (this.fails) throw new Error('/proc cannot be read');
    if (all) this.judgedAll += 1;
    const leak = invent(LEAK, 1, { verdict: 'leak', ageSeconds: 600 });
    const processes = [...HOUSE, ...(this.system.has(LEAK) ? [leak] : []), ...this.others];
    const findings = this.findings.map(({ id, pid }) => ({
      id,
      severity: 'warn' as const,
      title: `${pid} is ${id}`,
      why: '',
      processes: [{ pid, start: `s${pid}` }],
      files: [],
      remedy: '',
      action: null,
    }));
    const files = { joined: [], orchestrated: [], heartbeats: [], now: this.wall * 1000 };
    const moment = { ...snapshotOf(processes, { findings, takenAt: this.wall * 1000 }), files };
    return moment as unknown as JudgedSnapshot;
  }

  /** Time passes evenly, with a look every ten seconds. */
  async pass(seconds: number): Promise<void> {
    for (let past = 0; past < seconds; past += 10) {
      await this.guard.look({ act: true });
      this.#wait(10);
    }
  }

  #wait(seconds: number): void {
    this.monotonic += seconds;
    this.uptime += seconds;
    this.wall += seconds;
  }

  get cleared(): boolean {
    return !this.system.has(LEAK);
  }
}
