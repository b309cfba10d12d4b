import { formatMoment } from '../../model/format.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import type { Frame } from './lines.ts';
import { type Asked, momentAsked } from './moment.ts';
import type { Recording } from './recording.ts';
import { snapshotOf } from './snapshot-of.ts';

/** A picture every ten seconds, and one may come late: further off than this it is another moment. */
export const GAP_MS = 30_000;

export type OpenedMoment =
  | { readonly ok: true; readonly snapshot: Snapshot; readonly note: string | null }
  | { readonly ok: false; readonly message: string };

const NOTHING =
  'Nothing was recorded yet: reaptop guard keeps the flight recorder (reaptop guard install starts it at every login).';

/** The picture of a moment, or the nearest one with a sentence that says so. */
export const openMoment = (
  recording: Recording,
  asked: Asked,
  { bootedAt }: { readonly bootedAt: number },
): OpenedMoment => {
  const at = momentAsked(asked, recording.marks(), bootedAt);
  if (at === null) return { ok: false, message: 'No OOM kill was recorded.' };
  const frame = recording.nearest(at);
  if (frame === null) return { ok: false, message: NOTHING };
  const snapshot = snapshotOf(frame);
  if (snapshot === null)
    return { ok: false, message: `What was recorded at ${formatMoment(frame.at)} cannot be read.` };
  const note = noteFor(recording, at, frame);
  const said = [...(note === null ? [] : [note]), ...recording.warnings()];
  return { ok: true, snapshot: { ...snapshot, warnings: [...said, ...snapshot.warnings] }, note };
};

const noteFor = (recording: Recording, at: number, frame: Frame): string | null => {
  if (Math.abs(frame.at - at) <= GAP_MS) return null;
  const shown = `this is the nearest picture, of ${formatMoment(frame.at)}`;
  if (recording.before(at) === null) return `The recording begins after ${formatMoment(at)}: ${shown}.`;
  if (recording.after(at) === null) return `The recording ends before ${formatMoment(at)}: ${shown}.`;
  return `Nothing was recorded at ${formatMoment(at)} (guard was off, or the machine asleep): ${shown}.`;
};
