import { type Finding, sameFinding } from '../../model/finding.ts';
import { type Identity, keyOf } from '../../model/identity.ts';
import { foldsAbove } from '../view/placement.ts';
import { rowOptions } from '../view/state.ts';
import type { Controls } from './action.ts';
import { goTo } from './actions-moving.ts';

/** Selects the row of a process, unfolding and unfiltering as needed. */
export const reveal = (controller: Controls, identity: Identity): boolean => {
  const key = keyOf(identity);
  const { view, snapshot } = controller;
  const options = rowOptions(view);
  let folds = foldsAbove(snapshot, key, options);
  if (!folds && view.filter !== '') {
    controller.dispatch({ type: 'filter-close', keep: false });
    folds = foldsAbove(snapshot, key, { ...options, filter: '' });
  }
  if (!folds) return false;
  controller.dispatch({ type: 'fold', keys: folds, folded: false });
  goTo(
    controller,
    controller.rows.findIndex(row => row.key === key),
  );
  return true;
};

/** Goes round the findings that concern a process, from the one selected now. */
export const stepFinding = (controller: Controls, by: 1 | -1): void => {
  const { snapshot, view } = controller;
  const findings = snapshot.findings.filter(f => f.processes.length > 0);
  if (findings.length === 0) {
    controller.notice('The findings concern files only: tab shows them.');
    return;
  }
  const isHere = (f: Finding | null | undefined): f is Finding =>
    f?.processes.some(i => keyOf(i) === view.selected) === true;
  // A process may have two findings: the one we came for, or that under the panel's cursor; else it would begin anew for ever.
  const cameFor =
    view.focus === 'findings'
      ? snapshot.findings[view.panelCursor]
      : view.steppedTo && sameFinding(view.steppedTo, findings);
  const at = isHere(cameFor) ? findings.indexOf(cameFor) : findings.findIndex(isHere);
  const next = at < 0 ? (by > 0 ? 0 : findings.length - 1) : (at + by + findings.length) % findings.length;
  const finding = findings[next]!;
  if (reveal(controller, finding.processes[0]!)) {
    controller.dispatch({ type: 'stepped', to: finding });
    if (view.panel === 'findings')
      controller.dispatch({ type: 'panel-cursor', cursor: snapshot.findings.indexOf(finding) });
    controller.notice(`${finding.severity}: ${finding.title}`);
  } else controller.notice('That process is gone, or hidden: a shows all.');
};
