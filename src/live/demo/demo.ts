import { type Config, DEFAULT_CONFIG } from '../../model/config.ts';
import { spellBytes } from '../../model/format.ts';
import { type IdentityKey, keyOf } from '../../model/identity.ts';
import type { Plan } from '../../model/plan.ts';
import { isZombie, memoryOf } from '../../model/process.ts';
import { identityOf, type JudgedProcess, type Snapshot } from '../../model/snapshot.ts';
import { exportScreen } from '../export-screen.ts';
import type { ActRequest, Live, LiveState, LogLine, MemoryPoint } from '../live.ts';
import { judgedDemo } from './judged.ts';
import { DEMO_CLOCK, DEMO_NOW, DEMO_PROCESSES, DEMO_UID, type DemoProcess, demoStart } from './machine.ts';
import { demoOutcome, demoPlan, demoSummary } from './plan.ts';
import { DEMO_TMUX, demoFindings, demoHeartbeats } from './signs.ts';

const GIB = 1024 ** 3;
const HISTORY_SECONDS = 600;

export const demoSnapshot = (
  processes: readonly DemoProcess[] = DEMO_PROCESSES,
  elapsed = 0,
  wobble = 0,
): Snapshot => {
  const byPid = new Map(processes.map(p => [p.pid, p]));
  const judged = processes.map(p => judgedDemo(p, byPid, elapsed, wobble * ((p.pid % 5) - 2)));
  const find = (...pids: readonly number[]) =>
    pids.flatMap(pid => judged.filter(p => p.facts.pid === pid).map(identityOf));
  const related = judged.filter(p => p.related);
  const sum = (list: readonly JudgedProcess[], of: (p: JudgedProcess) => number): number =>
    list.reduce((total, p) => total + of(p), 0);
  const leaks = judged.filter(p => p.verdict === 'leak' && !isZombie(p.facts));
  const held = sum(leaks, p => memoryOf(p.facts));
  return {
    takenAt: DEMO_NOW + elapsed * 1000,
    clock: DEMO_CLOCK + elapsed,
    host: {
      name: 'atlas',
      platform: 'linux',
      backend: 'demo',
      container: false,
      bootId: null,
      memTotal: 31 * GIB,
      memAvailable: 15 * GIB,
      swapUsed: 2.4 * GIB,
    },
    self: { pid: 9999, uid: DEMO_UID, pgid: 9999, cgroup: null },
    totals: {
      processes: 214 + judged.length,
      agents: related.filter(p => p.kind === 'agent').length,
      related: related.length,
      rss: sum(related, p => p.facts.rss ?? 0),
      swap: sum(related, p => p.facts.details?.swap ?? 0),
      reclaimable: held,
      leaks: leaks.length,
      suspects: related.filter(p => p.verdict === 'suspect').length,
      zombies: related.filter(p => isZombie(p.facts)).length,
    },
    warnings: [],
    processes: judged,
    findings: demoFindings(find, leaks.length, spellBytes(held)),
    heartbeats: demoHeartbeats(find, elapsed),
    tmux: DEMO_TMUX,
  };
};

/** Ten minutes of memory: growing for those that grow, breathing for the rest; the same in every run. */
const demoHistory = (p: DemoProcess, elapsed: number): readonly MemoryPoint[] => {
  const points: MemoryPoint[] = [];
  for (let back = Math.min(HISTORY_SECONDS, p.age); back >= 0; back -= 10) {
    const breath = ((back / 10 + p.pid) % 7) / 400;
    const mib = p.mib + p.swap + ((p.grows ?? 0) * (elapsed - back)) / 60;
    points.push({
      at: DEMO_NOW + (elapsed - back) * 1000,
      bytes: mib * (1 + breath) * 1024 ** 2,
      cpu: p.cpu,
    });
  }
  return points;
};

export interface DemoOptions {
  /** Milliseconds between two outcomes; tests use little. */
  readonly stepMs?: number;
  /** What is waited for before each outcome, in place of `stepMs`. */
  readonly pace?: () => Promise<unknown>;
  /** false: time stands still until `tick` is called. */
  readonly ticking?: boolean;
  readonly readOnly?: string | null;
  readonly processes?: readonly DemoProcess[];
  readonly config?: Config;
}

export interface DemoLive extends Live {
  /** Lets `seconds` of the invented time pass. */
  tick(seconds: number): void;
  readonly ran: readonly Plan[];
}

const FIRST_LOG: readonly LogLine[] = [
  { at: DEMO_NOW - 3 * 3600_000, text: 'guard: 4 ended, 512.0 MiB back', tone: 'good' },
  {
    at: DEMO_NOW - 40 * 60_000,
    text: 'guard: 1 ended, 1 survived (npm exec 3310), 96.0 MiB back',
    tone: 'warn',
  },
];

/** The engine of `--demo`: a store like the real one over an invented machine. */
export const demoLive = (options: DemoOptions = {}): DemoLive => {
  const { stepMs = 350, ticking = true, readOnly = null } = options;
  const pace = options.pace ?? (() => new Promise(resolve => setTimeout(resolve, stepMs)));
  let processes = options.processes ?? DEMO_PROCESSES;
  let elapsed = 0;
  let ticks = 0;
  let stopped = false;
  let timer: NodeJS.Timeout | null = null;
  const listeners = new Set<() => void>();
  const ran: Plan[] = [];
  const first = demoSnapshot(processes);
  const total = first.totals.rss + first.totals.swap;
  // A working day in one line: builds come and go, and something leaks.
  const memory = Array.from({ length: 40 }, (_, i) => total * (0.6 + i * 0.01 - (i % 9 > 5 ? 0.09 : 0)));
  let state: LiveState = {
    snapshot: first,
    config: options.config ?? DEFAULT_CONFIG,
    memory,
    intervalSeconds: 2,
    slowedDown: false,
    readOnly,
    running: null,
    log: FIRST_LOG,
    error: null,
  };
  const set = (change: Partial<LiveState>): void => {
    state = { ...state, ...change };
    for (const listener of listeners) listener();
  };
  const look = (): void => {
    const snapshot = demoSnapshot(processes, elapsed, ticks === 0 ? 0 : (ticks % 3) - 1);
    set({ snapshot, memory: [...state.memory.slice(-239), snapshot.totals.rss + snapshot.totals.swap] });
  };
  const tick = (seconds: number): void => {
    elapsed += seconds;
    ticks += 1;
    look();
  };
  const schedule = (): void => {
    if (timer) clearInterval(timer);
    timer = null;
    if (ticking && !stopped)
      timer = setInterval(() => tick(state.intervalSeconds), state.intervalSeconds * 1000);
  };
  schedule();
  const byKey = (key: IdentityKey): DemoProcess | undefined =>
    processes.find(p => keyOf({ pid: p.pid, start: demoStart(p) }) === key);
  const run = async (plan: Plan): Promise<void> => {
    ran.push(plan);
    let cancelled = false;
    cancel = () => {
      cancelled = true;
    };
    set({ running: { plan, outcomes: [], done: false, summary: null } });
    for (const s of plan.steps) {
      await pace();
      if (cancelled || stopped) break;
      const outcome = demoOutcome(s);
      if (s.signal === 'SIGCHLD') {
        processes = processes.filter(p => !(p.ppid === s.pid && p.state === 'Z'));
      } else if (outcome.freed > 0) {
        processes = processes.filter(p => p.pid !== s.pid && !(p.ppid === s.pid && p.state === 'Z'));
      }
      set({
        snapshot: demoSnapshot(processes, elapsed),
        running: {
          plan,
          outcomes: [...(state.running?.outcomes ?? []), outcome],
          done: false,
          summary: null,
        },
      });
    }
    const outcomes = state.running?.outcomes ?? [];
    const summary = demoSummary(outcomes);
    set({
      running: { plan, outcomes, done: true, summary },
      log: [...state.log, { at: DEMO_NOW + elapsed * 1000, text: `you: ${summary}`, tone: 'good' }],
    });
  };
  let cancel = (): void => {};
  return {
    subscribe: listener => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    getState: () => state,
    history: key => {
      const p = byKey(key);
      return p ? demoHistory(p, elapsed) : [];
    },
    proportionalMemory: async pid => {
      const p = processes.find(each => each.pid === pid);
      return p ? Math.round(p.mib * 0.82) * 1024 ** 2 : null;
    },
    plan: async (request: ActRequest) => demoPlan(request, state.snapshot),
    run: async plan => {
      await run(plan);
      return null;
    },
    cancel: () => cancel(),
    jump: async target => `This machine is invented: there is no pane to go to for ${target.pid}.`,
    setInterval: seconds => {
      set({ intervalSeconds: seconds });
      schedule();
    },
    exportScreen,
    copyToTmux: async () => false,
    saveSettings: async () => 'This machine is invented: nothing was saved.',
    setFrozen: () => {},
    setAll: () => {},
    refresh: look,
    stop: async () => {
      stopped = true;
      if (timer) clearInterval(timer);
    },
    tick,
    ran,
  };
};
