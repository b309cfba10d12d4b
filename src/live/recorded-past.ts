import type { Mark } from '../model/mark.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { stateDirectory } from '../observe/state/state-directory.ts';
import type { Frame, Recording } from '../remember/recorder/index.ts';
import { ActLog } from './act-log.ts';
import type { TimeStep } from './live.ts';

/** What the plots of the live screen show. */
const PLOT_MS = 10 * 60_000;
const AUDIT_BYTES = 2 * 1024 ** 2;
const AUDIT_LINES = 2000;

export interface Reader {
  readonly module: typeof import('../remember/recorder/index.ts');
  readonly recording: Recording;
}

/** What guard recorded; its reader is loaded when somebody looks back for the first time. */
export class RecordedPast {
  readonly #env: NodeJS.ProcessEnv;
  readonly #directory: string | null;
  #reader: Reader | null = null;

  constructor(env: NodeJS.ProcessEnv, directory: string | null) {
    this.#env = env;
    this.#directory = directory;
  }

  /** Null: nothing was recorded. */
  async open(): Promise<Reader | null> {
    if (this.#directory === null) return null;
    if (this.#reader === null) {
      const module = await import('../remember/recorder/index.ts');
      this.#reader = { module, recording: new module.Recording(this.#directory) };
    }
    return this.#reader.recording.begin() === null ? null : this.#reader;
  }

  /** Where a step from a moment leads; null: nowhere. */
  target(step: TimeStep, from: number, { module, recording }: Reader): Frame | 'now' | null {
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
