import type { Finding } from '../../model/finding.ts';
import { lineUpFrom } from '../../model/forest.ts';
import { type Identity, type IdentityKey, keyOf } from '../../model/identity.ts';
import { identityOf, type JudgedProcess, type Snapshot } from '../../model/snapshot.ts';
import { entryUnderCursor } from './panel-entries.ts';
import { type Screen, selectedRow } from './screen.ts';

type Looking = Pick<Screen, 'snapshot' | 'state' | 'view' | 'rows'>;

/** What `f` is about: the finding in the panel, else the worst of the selected row that can be fixed, else its worst. */
export const findingToFix = (screen: Looking): Finding | null => {
  if (screen.view.focus !== 'tree') return entryUnderCursor('findings', screen, screen.view);
  const p = selectedRow(screen)?.process;
  if (!p) return null;
  const key = keyOf(p.facts);
  const about = screen.snapshot.findings.filter(f => f.processes.some(one => keyOf(one) === key));
  return about.find(f => f.action !== null) ?? about[0] ?? null;
};

/** Whoever is below another of them goes with that one, or stays with it. */
const topmost = (identities: readonly Identity[], { processes }: Snapshot): readonly JudgedProcess[] => {
  const wanted = new Set<IdentityKey>(identities.map(keyOf));
  const byPid = new Map(processes.map(p => [p.facts.pid, p]));
  const parentOf = (p: JudgedProcess) => byPid.get(p.facts.ppid ?? -1);
  const isBelow = (p: JudgedProcess): boolean =>
    [...lineUpFrom(parentOf(p), parentOf)].some(up => up !== p && wanted.has(keyOf(up.facts)));
  return processes.filter(p => wanted.has(keyOf(p.facts)) && !isBelow(p));
};

/** What the keys act on while a panel has them: what its entry is about, never a row of the tree. Null: the tree has them. */
const panelTargets = (screen: Looking): readonly JudgedProcess[] | null => {
  const { view, snapshot } = screen;
  if (view.focus === 'tree') return null;
  const finding = entryUnderCursor('findings', screen, view);
  const agent = entryUnderCursor('heartbeats', screen, view)?.agent;
  return topmost(finding?.processes ?? (agent ? [agent] : []), snapshot);
};

/** Whom a key that acts is about: the panel's entry, else the marked ones, else the selected one. */
export const targetsOf = (screen: Screen): readonly JudgedProcess[] => {
  const inPanel = panelTargets(screen);
  if (inPanel !== null) return inPanel;
  const { marked } = screen.view;
  if (marked.size > 0) return screen.snapshot.processes.filter(p => marked.has(keyOf(identityOf(p))));
  const row = selectedRow(screen);
  return row?.process && !row.gone ? [row.process] : [];
};
