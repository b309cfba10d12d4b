import type { ActRequest } from '../model/act-request.ts';
import { formatMoment } from '../model/format.ts';
import { type Identity, type IdentityKey, keyOf } from '../model/identity.ts';
import type { Settings } from '../model/look.ts';
import type { Plan } from '../model/plan.ts';
import { memoryOf } from '../model/process.ts';
import type { Snapshot } from '../model/snapshot.ts';
import type { Asked } from '../remember/recorder/index.ts';
import type { Live, LiveState, MemoryPoint, PastMoment, ShownAgain, TimeStep } from './live.ts';
import { type Reader, RecordedPast } from './recorded-past.ts';

export interface TimeTravelOptions {
  readonly live: Live;
  readonly env: NodeJS.ProcessEnv;
  readonly directory: string | null;
}

const NO_RECORDING =
  'Nothing was recorded yet: reaptop guard keeps the flight recorder (reaptop guard install).';
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

  #step(step: TimeStep, reader: Reader): string | null {
    const from = this.#shown?.moment.at ?? Date.now();
    const frame = this.#past.target(step, from, reader);
    if (frame === 'now') {
      this.#shown = null;
      this.#tell();
      return null;
    }
    if (frame === null)
      return step === 'back' ? 'The recording begins here.' : 'There is no mark in that direction.';
    const snapshot = reader.module.snapshotOf(frame);
    if (snapshot === null) return `What was recorded at ${formatMoment(frame.at)} cannot be read.`;
    this.#show(snapshot, null);
    return null;
  }

  #show(snapshot: Snapshot, note: string | null): void {
    this.#shown = { snapshot, moment: { at: snapshot.takenAt, note, marks: this.#past.marks() } };
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
          memory: this.#past
            .before(shown.moment.at)
            .map(({ snapshot }) => snapshot.totals.rss + snapshot.totals.swap),
          readOnly: `This is ${formatMoment(shown.moment.at)}: nothing can be signalled in the past; ] at the end is live again.`,
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

  /** Of a past moment the sum of the histories is all there is. */
  course(key: IdentityKey): readonly MemoryPoint[] {
    return this.#shown === null ? this.#options.live.course(key) : [];
  }

  proportionalMemory(pid: number): Promise<number | null> {
    return this.#shown === null ? this.#options.live.proportionalMemory(pid) : Promise.resolve(null);
  }

  plan(request: ActRequest): Promise<Plan> {
    return this.#shown === null
      ? this.#options.live.plan(request)
      : Promise.reject(new Error(this.#refusal()));
  }

  run(plan: Plan, request: ActRequest): Promise<ShownAgain | null> {
    return this.#shown === null
      ? this.#options.live.run(plan, request)
      : Promise.reject(new Error(this.#refusal()));
  }

  jump(target: Identity): Promise<string> {
    return this.#shown === null ? this.#options.live.jump(target) : Promise.resolve(this.#refusal());
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

  saveSettings(settings: Settings): Promise<string> {
    return this.#options.live.saveSettings(settings);
  }

  cancel(): void {
    this.#options.live.cancel();
  }

  setInterval(seconds: number): void {
    this.#options.live.setInterval(seconds);
  }

  setFrozen(frozen: boolean): void {
    this.#options.live.setFrozen(frozen);
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
