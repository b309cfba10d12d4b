import type { LiveState } from '../../live/live.ts';
import type { Finding } from '../../model/finding.ts';
import { doesNothing } from '../../model/plan.ts';
import type { JudgedProcess } from '../../model/snapshot.ts';
import { remedyInKeys } from '../../words/remedy.ts';
import type { Row } from '../view/row.ts';
import type { ViewState } from '../view/state.ts';

/** What a binding may look at to say that it cannot act now. */
export interface Situation {
  readonly view: ViewState;
  readonly state: LiveState;
  readonly row: Row | null;
  /** Marked processes, or the selected one; in the panel of findings those of the selected one. */
  readonly targets: readonly JudgedProcess[];
  /** The selected finding, or that of the selected row; null: there is none. */
  readonly finding: Finding | null;
}

/** Why a key cannot act now, in a sentence; null when it can. */
const cannotAct = ({ state }: Situation): string | null => {
  if (state.readOnly) return state.readOnly;
  return state.running && !state.running.done ? 'A plan is still running: wait for it to finish.' : null;
};

/** While a panel has the keys they are about its entry, never about a row of the tree, which may not be in sight. */
export const needsTree = ({ view }: Situation): string | null =>
  view.focus === 'tree' ? null : 'That is for the tree: Esc goes back to it.';

export const needsTarget = (situation: Situation): string | null =>
  cannotAct(situation) ??
  (situation.targets.length > 0
    ? null
    : situation.view.focus !== 'tree'
      ? 'Nothing to act on: this entry concerns no process that runs.'
      : situation.row?.gone
        ? 'It has ended: move to another row.'
        : 'Nothing to act on: select a process, or mark some with space.');

export const needsRemedy = (situation: Situation): string | null => {
  const { finding } = situation;
  if (finding === null) return 'No finding here: n goes to the next one.';
  return (
    cannotAct(situation) ?? (finding.action === null ? `Nothing to run: ${remedyInKeys(finding)}.` : null)
  );
};

export const needsProcess = ({ targets }: Situation): string | null =>
  targets.length > 0 ? null : 'Nothing to copy: select a process, or mark some with space.';

export const needsLeak = (situation: Situation): string | null =>
  cannotAct(situation) ??
  (situation.state.snapshot.totals.leaks > 0
    ? null
    : 'No process is proven leaked: there is nothing to clean.');

export const needsZombie = (situation: Situation): string | null =>
  cannotAct(situation) ??
  (situation.state.snapshot.totals.zombies > 0 ? null : 'No zombies below a related process.');

export const needsFinding = ({ state, view }: Situation): string | null =>
  (view.frozen ?? state.snapshot).findings.length > 0 ? null : 'No findings.';

/** Whose pane `o` goes to. */
export const inPane = ({ view, row, targets }: Situation): JudgedProcess | null =>
  (view.focus === 'tree' ? row?.process : targets[0]) ?? null;

export const needsPane = (situation: Situation): string | null => {
  if (situation.state.readOnly) return situation.state.readOnly;
  return inPane(situation)?.tmux ? null : 'No tmux server has named a pane for this row.';
};

export const needsMark = ({ view }: Situation): string | null =>
  view.marked.size > 0 ? null : 'Nothing is marked.';

export const needsWork = ({ state }: Situation): string | null =>
  state.running && !state.running.done ? null : 'It is done: there is nothing to stop.';

export const needsSteps = ({ view }: Situation): string | null =>
  view.overlay?.kind === 'plan' && doesNothing(view.overlay.plan) ? 'Nothing would be signalled.' : null;

export const needsDetail = ({ view }: Situation): string | null =>
  view.detail ? null : 'The detail pane is closed: enter opens it.';

export const needsPast = ({ state }: Situation): string | null =>
  state.moment ? null : 'This is now: [ steps back.';
