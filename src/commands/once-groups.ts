import { forestOf } from '../model/forest.ts';
import type { JudgedProcess, Snapshot } from '../model/snapshot.ts';

/** A line of the tree: a process and the branch drawing in front of it. */
export interface Branch {
  readonly process: JudgedProcess;
  readonly drawing: string;
}

export interface Group {
  readonly title: string;
  readonly tone: 'plain' | 'leak' | 'suspect';
  readonly branches: readonly Branch[];
}

/** Zombies beyond this many are only counted: a parent can owe a thousand waits. */
const SHOWN_ZOMBIES = 3;

interface Section {
  readonly title: (p: JudgedProcess) => string;
  readonly tone: Group['tone'];
  readonly order: number;
}

const TMUX: Section = { title: p => `tmux ${p.tmux!.session} ${p.tmux!.pane}`, tone: 'plain', order: 0 };
const ELSEWHERE: Section = { title: () => 'outside tmux', tone: 'plain', order: 1 };
const SUSPECT: Section = { title: () => 'suspect: evidence, no proof', tone: 'suspect', order: 2 };
const LEAKED: Section = { title: () => 'leaked', tone: 'leak', order: 3 };

const sectionOf = (root: JudgedProcess): Section => {
  if (root.verdict === 'leak') return LEAKED;
  if (root.verdict === 'suspect') return SUSPECT;
  return root.tmux === null ? ELSEWHERE : TMUX;
};

/** Leaked and suspect processes stand by themselves; with `--all`, their adopter is shown too, and is not their parent. */
const standsBelow = (p: JudgedProcess, parent: JudgedProcess): boolean =>
  p.verdict === 'leak' ? parent.verdict === 'leak' : p.verdict !== 'suspect' || parent.related;

/** tmux panes first, then everything else that runs, suspects, and all leaked roots together at the end. */
export const groupProcesses = (snapshot: Snapshot): Group[] => {
  const shown = snapshot.processes.filter(p => p.kind !== 'tmux' || p.seen.role !== 'tmux-server');
  // Parents are listed first: in a table in which two processes call each other parent, the first one is.
  const listed = new Map(shown.map((p, at) => [p, at]));
  const forest = forestOf(
    shown,
    p => p.facts,
    (parent, p) => listed.get(parent)! < listed.get(p)! && standsBelow(p, parent),
  );
  const groups = new Map<string, { section: Section; title: string; branches: Branch[] }>();
  for (const root of forest.roots) {
    const section = sectionOf(root);
    const title = section.title(root);
    const group = groups.get(title) ?? { section, title, branches: [] };
    groups.set(title, group);
    drawTree(root, '', '', forest.childrenOf, group.branches);
  }
  return [...groups.values()]
    .sort((a, b) => a.section.order - b.section.order)
    .map(({ section, title, branches }) => ({ title, tone: section.tone, branches }));
};

const drawTree = (
  p: JudgedProcess,
  before: string,
  beforeChildren: string,
  childrenOf: (p: JudgedProcess) => readonly JudgedProcess[],
  into: Branch[],
): void => {
  into.push({ process: p, drawing: before });
  const all = childrenOf(p);
  const zombies = all.filter(child => child.facts.state === 'Z').slice(0, SHOWN_ZOMBIES);
  const children = [...all.filter(child => child.facts.state !== 'Z'), ...zombies];
  for (const [index, child] of children.entries()) {
    const last = index === children.length - 1;
    drawTree(
      child,
      `${beforeChildren}${last ? '└ ' : '├ '}`,
      `${beforeChildren}${last ? '  ' : '│ '}`,
      childrenOf,
      into,
    );
  }
};
