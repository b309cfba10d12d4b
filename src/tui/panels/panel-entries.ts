import type { LiveState, LogLine } from '../../engine/live-state.ts';
import { type RememberedSession, sessionKey } from '../../model/asleep.ts';
import { type Finding, sameFinding } from '../../model/finding.ts';
import type { Heartbeat } from '../../model/heartbeat.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import type { CursorPlace, PanelId, ViewState } from '../state.ts';

interface EntryOf {
  readonly findings: Finding;
  readonly heartbeats: Heartbeat;
  readonly asleep: RememberedSession;
  readonly log: LogLine;
}

/** What the panels list from. */
export interface Shown {
  readonly snapshot: Snapshot;
  readonly state: Pick<LiveState, 'log' | 'asleep'>;
}

const reversed = new WeakMap<readonly LogLine[], readonly LogLine[]>();

/** The log as its panel lists it, because the panel is short; the same list for the same log. */
const newestFirst = (log: readonly LogLine[]): readonly LogLine[] => {
  const known = reversed.get(log) ?? log.toReversed();
  reversed.set(log, known);
  return known;
};

const NONE_ASLEEP: readonly RememberedSession[] = [];

/** A panel that is empty on most machines is not shown there. */
export const isPanelShown = (panel: PanelId, { state }: Shown): boolean =>
  panel !== 'asleep' || (state.asleep ?? NONE_ASLEEP).length > 0;

interface Listed<Entry> {
  readonly of: (shown: Shown) => readonly Entry[];
  /** The one among these that is still the same; undefined: it is no longer there. */
  readonly same: (entry: Entry, among: readonly Entry[]) => Entry | undefined;
  /** One that is no longer there stays as such, until the user moves. */
  readonly stays: boolean;
}

const LISTED: { readonly [P in PanelId]: Listed<EntryOf[P]> } = {
  findings: { of: ({ snapshot }) => snapshot.findings, same: sameFinding, stays: true },
  heartbeats: {
    of: ({ snapshot }) => snapshot.heartbeats,
    same: ({ path, format }, among) => among.find(beat => beat.path === path && beat.format === format),
    stays: true,
  },
  asleep: {
    of: ({ state }) => state.asleep ?? NONE_ASLEEP,
    same: (session, among) => among.find(other => sessionKey(other) === sessionKey(session)),
    stays: false,
  },
  // The oldest lines fall off the end: nothing is over because of that.
  log: {
    of: ({ state }) => newestFirst(state.log),
    same: (line, among) => among.find(other => other === line),
    stays: false,
  },
};

export const entriesOf = <P extends PanelId>(panel: P, shown: Shown): readonly EntryOf[P][] =>
  LISTED[panel].of(shown);

/** Rows of the panel while no entry is unfolded: warnings are listed below the findings. */
export const panelLength = (panel: PanelId, shown: Shown): number =>
  entriesOf(panel, shown).length + (panel === 'findings' ? shown.snapshot.warnings.length : 0);

/** The entry of this panel that the cursor is on; null: another has the keys, it is on a note, or it is over. */
export const entryUnderCursor = <P extends PanelId>(
  panel: P,
  shown: Shown,
  { focus, panelLost, panelCursor }: ViewState,
): EntryOf[P] | null =>
  focus === panel && panelLost === null ? (entriesOf(panel, shown)[panelCursor] ?? null) : null;

/** Where the cursor of the panel with the keys is after a new sample: on the same entry, or where that was. */
export const keptCursor = (
  { panelCursor, panelLost }: CursorPlace,
  panel: PanelId,
  before: Shown,
  now: Shown,
): CursorPlace => {
  const { of, same, stays } = LISTED[panel] as Listed<EntryOf[PanelId]>;
  const listed = of(now);
  const was = of(before);
  if (listed === was) return { panelCursor, panelLost };
  const entry = panelLost ?? was[panelCursor];
  // On a note below the findings, or nowhere.
  if (entry === undefined) return { panelCursor, panelLost: null };
  const found = same(entry, listed);
  if (found !== undefined) return { panelCursor: listed.indexOf(found), panelLost: null };
  return stays
    ? { panelCursor: Math.min(panelCursor, listed.length), panelLost: entry as Finding | Heartbeat }
    : { panelCursor: Math.max(0, Math.min(panelCursor, listed.length - 1)), panelLost: null };
};
