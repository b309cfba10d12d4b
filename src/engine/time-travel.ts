import type { MemoryPoint } from '../judge/history.ts';
import type { RememberedSession } from '../model/asleep.ts';
import type { Finding } from '../model/finding.ts';
import { type Identity, type IdentityKey, keyOf } from '../model/identity.ts';
import type { ActRequest, Plan } from '../model/plan.ts';
import { memoryOf } from '../model/process.ts';
import type { Mark } from '../model/report.ts';
import type { Snapshot } from '../model/snapshot.ts';
import type { Asked } from '../model/time.ts';
import type { UiSettings } from '../model/ui-settings.ts';
import { formatMoment } from '../model/units.ts';
import { stateDirectory } from '../observe/state/state-directory.ts';
import type { Frame } from '../remember/recorder/lines.ts';
import type { Recording } from '../remember/recorder/recording.ts';
import { treePoint } from './history.ts';
import type { ChangedPlan, Live, LiveState, PastMoment, TimeStep } from './live-state.ts';
import { ActLog } from './log.ts';

export interface TimeTravelOptions {
  readonly live: Live;
  readonly env: NodeJS.ProcessEnv;
  readonly directory: string | null;
}

const NO_RECORDING = 'Nothing was recorded yet. reaptop guard records; reaptop guard install starts it.';
/** The live screen with a past: what guard recorded, read-only, and back to now. Nothing can be signalled meanwhile. */
export class TimeTravel implements Live {
  readonly #options: TimeTravelOptions;
  readonly #listeners = new Set<() => void>();
  readonly #past: RecordedPast;
  #shown: { readonly snapshot: Snapshot; readonly moment: PastMoment } | null = null;
  #state: { readonly of: LiveState; readonly shown: object; readonly made: LiveState } | null = null;
  #busy = false;

  constructor(options: TimeTravelOptions) {
    this.#options = options;
    this.#past = new RecordedPast(options.env, options.directory);
  }

  /** Opens at a moment, before anything is painted; a sentence when there is none. */
  async open(asked: Asked, bootedAt: number): Promise<string | null> {
    const reader = await this.#past.open();
    if (reader === null) return NO_RECORDING;
    const opened = reader.module.openMoment(reader.recording, asked, { bootedAt });
    if (!opened.ok) return opened.message;
    this.#show(opened.snapshot, opened.note);
    return null;
  }

  async travel(step: TimeStep): Promise<string | null> {
    if (step === 'now') {
      this.#shown = null;
      this.#tell();
      return null;
    }
    // A key held down: one step at a time.
    if (this.#busy) return null;
    this.#busy = true;
    try {
      const reader = await this.#past.open();
      return reader === null ? NO_RECORDING : this.#step(step, reader);
    } finally {
      this.#busy = false;
    }
  }

  #step(step: Exclude<TimeStep, 'now'>, reader: RecordingReader): string | null {
    const from = this.#shown?.moment.at ?? Date.now();
    const frame = this.#past.target(step, from, reader);
    if (frame === 'now') {
      this.#shown = null;
      this.#tell();
      return null;
    }
    if (frame === null) return step === 'back' ? 'The recording starts here.' : 'No event in that direction.';
    const snapshot = reader.module.snapshotOf(frame);
    if (snapshot === null) return `What was recorded at ${formatMoment(frame.at)} cannot be read.`;
    this.#show(snapshot, null);
    return null;
  }

  #show(snapshot: Snapshot, note: string | null): void {
    const moment = { at: snapshot.takenAt, note, marks: this.#past.marks(), now: Date.now() };
    this.#shown = { snapshot: withoutActions(snapshot), moment };
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    const unsubscribe = this.#options.live.subscribe(listener);
    return () => {
      this.#listeners.delete(listener);
      unsubscribe();
    };
  }

  getState(): LiveState {
    const of = this.#options.live.getState();
    const shown = this.#shown;
    if (shown === null) return of;
    if (this.#state?.of !== of || this.#state.shown !== shown)
      this.#state = {
        of,
        shown,
        made: {
          ...of,
          ...shown,
          load: null,
          readOnly: `This is ${formatMoment(shown.moment.at)}: nothing can be signalled in the past; Esc goes back to now.`,
        },
      };
    return this.#state.made;
  }

  history(key: IdentityKey): readonly MemoryPoint[] {
    const shown = this.#shown;
    if (shown === null) return this.#options.live.history(key);
    return this.#past.before(shown.moment.at).flatMap(({ at, snapshot }) => {
      const p = snapshot.processes.find(({ facts }) => keyOf(facts) === key);
      return p === undefined ? [] : [{ at, bytes: memoryOf(p.facts), cpu: p.facts.cpu }];
    });
  }

  treeHistory(key: IdentityKey): readonly MemoryPoint[] {
    const shown = this.#shown;
    if (shown === null) return this.#options.live.treeHistory(key);
    return this.#past.before(shown.moment.at).flatMap(({ snapshot }) => treePoint(snapshot, key) ?? []);
  }

  proportionalMemory(pid: number): Promise<number | null> {
    return this.#shown === null ? this.#options.live.proportionalMemory(pid) : Promise.resolve(null);
  }

  plan(request: ActRequest): Promise<Plan> {
    return this.#shown === null
      ? this.#options.live.plan(request)
      : Promise.reject(new Error(this.#refusal()));
  }

  run(plan: Plan, request: ActRequest): Promise<ChangedPlan | null> {
    return this.#shown === null
      ? this.#options.live.run(plan, request)
      : Promise.reject(new Error(this.#refusal()));
  }

  jump(target: Identity): Promise<string> {
    return this.#shown === null ? this.#options.live.jump(target) : Promise.resolve(this.#refusal());
  }

  attachment(target: Identity): (() => Promise<string>) | null {
    return this.#shown === null ? (this.#options.live.attachment?.(target) ?? null) : null;
  }

  peek(target: Identity): Promise<readonly string[] | string> {
    const live = this.#shown === null ? this.#options.live.peek?.(target) : undefined;
    return live ?? Promise.resolve(this.#refusal());
  }

  #refusal(): string {
    return this.getState().readOnly ?? 'nothing can be signalled in the past';
  }

  exportScreen(extension: string, text: string): Promise<string> {
    return this.#options.live.exportScreen(extension, text);
  }

  copyToTmux(text: string): Promise<boolean> {
    return this.#options.live.copyToTmux(text);
  }

  saveSettings(settings: UiSettings): Promise<string> {
    return this.#options.live.saveSettings(settings);
  }

  cancel(): void {
    this.#options.live.cancel();
  }

  wake(session: RememberedSession): Promise<string> {
    const live = this.#shown === null ? this.#options.live.wake?.(session) : undefined;
    return live ?? Promise.resolve(this.#refusal());
  }

  acknowledge(finding: Finding): string {
    return this.#shown === null ? (this.#options.live.acknowledge?.(finding) ?? '') : this.#refusal();
  }

  takeBack(finding: Finding): string {
    return this.#options.live.takeBack?.(finding) ?? '';
  }

  setInterval(seconds: number): void {
    this.#options.live.setInterval(seconds);
  }

  setAll(all: boolean): void {
    this.#options.live.setAll(all);
  }

  refresh(): void {
    this.#options.live.refresh();
  }

  stop(): Promise<void> {
    return this.#options.live.stop();
  }
}

/** Nothing can be done about what was found then. */
const withoutActions = (snapshot: Snapshot): Snapshot => ({
  ...snapshot,
  findings: snapshot.findings.map(finding => ({ ...finding, action: null })),
});

/** What the plots of the live screen show. */
const PLOT_MS = 10 * 60_000;
const AUDIT_BYTES = 2 * 1024 ** 2;
const AUDIT_LINES = 2000;

export interface RecordingReader {
  readonly module: typeof import('../remember/recorder/recording.ts') &
    typeof import('../remember/recorder/stored-snapshot.ts');
  readonly recording: Recording;
}

/** What guard recorded; its reader is loaded at the first step back. */
export class RecordedPast {
  readonly #env: NodeJS.ProcessEnv;
  readonly #directory: string | null;
  #reader: RecordingReader | null = null;

  constructor(env: NodeJS.ProcessEnv, directory: string | null) {
    this.#env = env;
    this.#directory = directory;
  }

  /** Null: nothing was recorded. */
  async open(): Promise<RecordingReader | null> {
    if (this.#directory === null) return null;
    if (this.#reader === null) {
      const module = {
        ...(await import('../remember/recorder/recording.ts')),
        ...(await import('../remember/recorder/stored-snapshot.ts')),
      };
      this.#reader = { module, recording: new module.Recording(this.#directory) };
    }
    return this.#reader.recording.begin() === null ? null : this.#reader;
  }

  /** Where a step from a moment leads; null: nowhere. */
  target(
    step: Exclude<TimeStep, 'now'>,
    from: number,
    { module, recording }: RecordingReader,
  ): Frame | 'now' | null {
    if (step === 'back') return recording.before(from);
    if (step === 'forward') return recording.after(from) ?? 'now';
    const marks = this.marks();
    // The picture of a mark may lie a little to either side of it: the same mark is not jumped to twice.
    const near = module.GAP_MS / 2;
    const mark =
      step === 'mark-back'
        ? marks.findLast(({ at }) => at < from - near)
        : marks.find(({ at }) => at > from + near);
    if (mark !== undefined) return recording.nearest(mark.at);
    return step === 'mark-forward' ? 'now' : null;
  }

  /** What was recorded, and what was ended by whomever; within the recording. */
  marks(): readonly Mark[] {
    if (this.#reader === null) return [];
    const { recording } = this.#reader;
    const first = recording.begin() ?? 0;
    const lines = new ActLog(stateDirectory(this.#env), AUDIT_BYTES).next().slice(-AUDIT_LINES);
    const acts = lines.map(({ at, text }): Mark => ({ at, mark: 'ended', text }));
    return [...recording.marks(), ...acts].filter(({ at }) => at >= first).sort((a, b) => a.at - b.at);
  }

  /** The ten minutes up to a moment. */
  before(to: number): readonly { readonly at: number; readonly snapshot: Snapshot }[] {
    if (this.#reader === null) return [];
    const { module, recording } = this.#reader;
    return [...recording.between(to - PLOT_MS, to)].flatMap(frame => {
      const snapshot = module.snapshotOf(frame);
      return snapshot === null ? [] : [{ at: frame.at, snapshot }];
    });
  }
}
