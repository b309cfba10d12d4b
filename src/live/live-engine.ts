import { copyToTmux } from '../act/tmux/copy.ts';
import { History } from '../collect/history.ts';
import { saveSettings } from '../collect/save-settings.ts';
import { weigh } from '../collect/weigh.ts';
import { withLeaksSeenTwice } from '../judge/rules/confirm.ts';
import type { ActRequest } from '../model/act-request.ts';
import type { Identity, IdentityKey } from '../model/identity.ts';
import type { Settings } from '../model/look.ts';
import type { Plan } from '../model/plan.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { stateDirectory } from '../observe/state/state-directory.ts';
import { turnOfLoop } from '../observe/time-slice.ts';
import { ActLog } from './act-log.ts';
import { AgentCourses } from './agent-courses.ts';
import type { LiveEngineOptions } from './engine-options.ts';
import { exportScreen } from './export-screen.ts';
import { firstState, memoryTotal } from './first-state.ts';
import { Fixer } from './fixer.ts';
import { jumpTo } from './jump.ts';
import type { Live, LiveState, MemoryPoint, ShownAgain } from './live.ts';
import { LiveStore } from './live-store.ts';
import { PlanRunner } from './plan-runner.ts';
import { planRequest } from './planner.ts';
import { Reporter } from './reporter.ts';
import { Sampler } from './sampler.ts';
import { Turns } from './turns.ts';

/** Points of the header's sparkline. */
const SPARK_POINTS = 240;
const FILES_SETTLE_MS = 600;

/** The second look comes soon after the first: a leak must be seen twice, and CPU is told from two looks. */
const SECOND_LOOK_MS = 300;

/** The live engine: samples, remembers, plans and runs; the TUI only subscribes and asks. */
export class LiveEngine implements Live {
  readonly #options: LiveEngineOptions;
  readonly #history = new History();
  readonly #sampler: Sampler;
  readonly #store: LiveStore;
  #all: boolean;
  readonly #courses = new AgentCourses();
  readonly #reporter: Reporter;
  readonly #fixer: Fixer;
  readonly #runner: PlanRunner;
  #filesTimer: NodeJS.Timeout | null = null;
  #beforeLook: () => void = () => {};
  readonly #turns: Turns;

  private constructor(options: LiveEngineOptions, first: Snapshot) {
    this.#options = options;
    this.#all = options.all;
    this.#fixer = new Fixer(options, this.#history);
    // What was done on this machine is no part of a recorded table, nor of an invented one, which brings its own log.
    const hasActs = options.log === undefined && options.system.readOnly === null;
    const acts = hasActs ? new ActLog(stateDirectory(options.env)) : null;
    this.#store = new LiveStore(firstState(options, first, acts));
    this.#reporter = new Reporter(options, this.#store, acts);
    this.#history.record(first);
    this.#sampler = new Sampler({
      intervalSeconds: options.intervalSeconds,
      sample: () => this.#sample(),
      onBackOff: slowedDown => this.#store.set({ slowedDown }),
    });
    this.#turns = new Turns(this.#sampler);
    this.#runner = new PlanRunner(options, this.#store, this.#turns, this.#fixer);
  }

  /** Resolves with data: the first paint is never an empty screen. */
  static async start(options: LiveEngineOptions): Promise<LiveEngine> {
    const first = await options.collector.collect({ all: options.all, hurry: true });
    // A recorded table does not change: one look is all there is.
    const recorded = options.system.readOnly !== null;
    const engine = new LiveEngine(options, recorded ? first : withLeaksSeenTwice(null, first));
    if (!recorded && options.byHand !== true) engine.#sampler.start(SECOND_LOOK_MS);
    await turnOfLoop(); // what comes next is the screen, which takes as long to load as a look
    return engine;
  }

  subscribe(listener: () => void): () => void {
    return this.#store.subscribe(listener);
  }

  getState(): LiveState {
    return this.#store.state;
  }

  history(key: IdentityKey): readonly MemoryPoint[] {
    return this.#history.memory(key);
  }

  course(key: IdentityKey): readonly MemoryPoint[] {
    return this.#courses.of(key);
  }

  proportionalMemory(pid: number): Promise<number | null> {
    return this.#options.system.proportionalMemory(pid);
  }

  plan(request: ActRequest): Promise<Plan> {
    const { collector, config, system } = this.#options;
    const shown = this.#store.state.snapshot;
    return this.#turns.alone(async () => {
      if (request.act === 'fix') return this.#fixer.plan(request.finding, shown);
      const fresh = await collector.collect({ all: true });
      return weigh(planRequest({ request, shown, fresh, lineage: collector.lineage, config }), system);
    });
  }

  async run(plan: Plan, request: ActRequest): Promise<ShownAgain | null> {
    const worse = await this.#runner.run(plan, request);
    await this.#sampler.now();
    return worse.length === 0 ? null : { plan: await this.plan(request), because: worse.join('; ') };
  }

  cancel(): void {
    this.#runner.cancel();
  }

  jump(target: Identity): Promise<string> {
    return jumpTo(target, this.#store.state.snapshot, this.#options);
  }

  exportScreen(extension: string, text: string): Promise<string> {
    return exportScreen(extension, text);
  }

  copyToTmux(text: string): Promise<boolean> {
    return copyToTmux(text, this.#options.env);
  }

  setInterval(seconds: number): void {
    this.#sampler.setInterval(seconds);
    this.#store.set({ intervalSeconds: seconds, slowedDown: false });
  }

  async saveSettings(settings: Settings): Promise<string> {
    const { configPath, system } = this.#options;
    if (system.backend === 'demo') return 'This machine is invented: nothing was saved.';
    if (configPath == null) throw new Error('Nothing was saved: there is no home directory.');
    return saveSettings(configPath, settings);
  }

  /** The view freezes, not the engine: history and lineage go on. */
  setFrozen(_frozen: boolean): void {}

  setAll(all: boolean): void {
    this.#all = all;
    void this.refresh();
  }

  refresh(): Promise<void> {
    return this.#sampler.now();
  }

  /** For an engine that looked by hand until now; `before` comes before each look. */
  startLooking(before: () => void): void {
    this.#beforeLook = before;
    this.#sampler.start();
  }

  /** A heartbeat file changed: on screen within a second, but a busy disk does not drive the refresh. */
  noteFiles(): void {
    this.#filesTimer ??= setTimeout(() => {
      this.#filesTimer = null;
      void this.refresh();
    }, FILES_SETTLE_MS);
  }

  async stop(): Promise<void> {
    this.#runner.cancel();
    this.#reporter.stop();
    if (this.#filesTimer !== null) clearTimeout(this.#filesTimer);
    await this.#sampler.stop();
    await this.#turns.over(); // an act that was cut short still writes what it did
    this.#options.system.close();
  }

  async #sample(): Promise<void> {
    try {
      this.#beforeLook();
      const looked = await this.#options.collector.collect({ all: this.#all, past: this.#history });
      this.#history.record(looked);
      this.#courses.record(looked);
      const { state } = this.#store;
      const snapshot = state.readOnly ? looked : withLeaksSeenTwice(state.snapshot, looked);
      const memory = [...state.memory, memoryTotal(snapshot)].slice(-SPARK_POINTS);
      this.#store.set({ snapshot, memory, error: null });
      this.#reporter.look(snapshot);
    } catch (error) {
      // The screen keeps the last good snapshot and says why it is old.
      this.#store.set({ error: error instanceof Error ? error.message : String(error) });
    }
  }
}
