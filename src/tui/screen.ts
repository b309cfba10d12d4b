import type { LiveState } from '../engine/live-state.ts';
import type { MemoryPoint } from '../judge/history.ts';
import type { Finding } from '../model/finding.ts';
import { selfAndAncestors } from '../model/forest.ts';
import { type Identity, type IdentityKey, keyOf } from '../model/identity.ts';
import { identityOf, type JudgedProcess, type Snapshot } from '../model/snapshot.ts';
import { entryUnderCursor } from './panels/panel-entries.ts';
import type { ViewState } from './state.ts';
import type { Row } from './tree/row-order.ts';
import type { Glyphs } from './ui/glyphs.ts';
import type { Layout } from './ui/layout.ts';
import type { Theme } from './ui/theme.ts';

/** All that a component may look at: nothing on the screen has other state. */
export interface Screen {
  readonly state: LiveState;
  /** The frozen one while frozen, else the latest. */
  readonly snapshot: Snapshot;
  readonly view: ViewState;
  readonly rows: readonly Row[];
  readonly layout: Layout;
  readonly glyphs: Glyphs;
  readonly theme: Theme;
  /** PSS of the selected process, once it has been read. */
  readonly pss: number | null;
  history(key: IdentityKey): readonly MemoryPoint[];
  /** Of a process and all below it; empty for one that never had a child and is no agent. */
  treeHistory(key: IdentityKey): readonly MemoryPoint[];
}

/** Where components read the screen from: replaced as a whole when something may look different. */
export interface ScreenStore {
  subscribe(listener: () => void): () => void;
  getScreen(): Screen;
}

export const selectedRow = ({ rows, view }: Pick<Screen, 'rows' | 'view'>): Row | null => {
  const there = rows[view.selectedIndex];
  if (there?.key === view.selected) return there;
  return rows.find(row => row.key === view.selected) ?? null;
};

type Looking = Pick<Screen, 'snapshot' | 'state' | 'view' | 'rows'>;

/** What `f` is about: the finding in the panel, else the worst of the selected row that can be fixed, else its worst. */
export const findingToFix = (screen: Looking): Finding | null => {
  if (screen.view.focus === 'heartbeats') return findingOfBeat(screen);
  if (screen.view.focus !== 'tree') return entryUnderCursor('findings', screen, screen.view);
  const row = selectedRow(screen);
  if (!row) return null;
  const keys = new Set((row.process ? [row.process] : row.roots).map(p => keyOf(p.facts)));
  const about = screen.snapshot.findings.filter(f => f.processes.some(one => keys.has(keyOf(one))));
  return about.find(f => f.action !== null) ?? about[0] ?? null;
};

/** What is wrong with the file under the cursor, else with its agent; what can be fixed first. */
const findingOfBeat = (screen: Looking): Finding | null => {
  const beat = entryUnderCursor('heartbeats', screen, screen.view);
  if (beat === null) return null;
  const { findings } = screen.snapshot;
  const ofFile = findings.filter(f => f.files.includes(beat.path));
  const agent = beat.agent === null ? null : keyOf(beat.agent);
  const ofAgent = findings.filter(f => agent !== null && f.processes.some(one => keyOf(one) === agent));
  const about = ofFile.length > 0 ? ofFile : ofAgent;
  return about.find(f => f.action !== null) ?? about[0] ?? null;
};

/** Without those below another of them: they go or stay with it. */
const topmost = (identities: readonly Identity[], { processes }: Snapshot): readonly JudgedProcess[] => {
  const wanted = new Set<IdentityKey>(identities.map(keyOf));
  const byPid = new Map(processes.map(p => [p.facts.pid, p]));
  const parentOf = (p: JudgedProcess) => byPid.get(p.facts.ppid ?? -1);
  const isBelow = (p: JudgedProcess): boolean =>
    [...selfAndAncestors(parentOf(p), parentOf)].some(up => up !== p && wanted.has(keyOf(up.facts)));
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

/** What an acting key applies to: the panel's entry, else the marked processes, else the selected one. */
export const targetsOf = (screen: Screen): readonly JudgedProcess[] => {
  const inPanel = panelTargets(screen);
  if (inPanel !== null) return inPanel;
  const { marked } = screen.view;
  if (marked.size > 0) return screen.snapshot.processes.filter(p => marked.has(keyOf(identityOf(p))));
  const row = selectedRow(screen);
  if (!row || row.gone) return [];
  return row.process ? [row.process] : row.roots;
};
