import { type LeakGroup, leakGroups } from '../judge/findings/leak.ts';
import { forestOf } from '../model/forest.ts';
import { formatBytes } from '../model/format.ts';
import { isZombie, memoryOf } from '../model/process.ts';
import type { JudgedProcess, Snapshot } from '../model/snapshot.ts';

/** A line of the tree: a process and the branch drawing in front of it. */
export interface Branch {
  readonly process: JudgedProcess;
  readonly drawing: string;
  /** Its reasons are told below it: nobody above it has told them. */
  readonly explained: boolean;
}

/** In place of rows that are only counted. */
export interface Counted {
  readonly text: string;
  readonly drawing: string;
}

export interface Group {
  readonly title: string;
  readonly tone: 'plain' | 'leak' | 'suspect';
  readonly branches: readonly (Branch | Counted)[];
}

/** Zombies beyond this many are only counted: a parent can owe a thousand waits. */
const SHOWN_ZOMBIES = 3;
/** Of what one dead session left, or one program where no session is known, this many trees are told; the rest is counted. */
const SHOWN_LEAKS = 3;

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

const isDoubtful = ({ verdict }: JudgedProcess): boolean => verdict === 'leak' || verdict === 'suspect';

/** Told unless the process above, or one of the same origin just before, has told the same. */
const isExplained = (p: JudgedProcess, parent: JudgedProcess | null, before: JudgedProcess | null): boolean =>
  isDoubtful(p) && parent?.verdict !== p.verdict && before?.why.join() !== p.why.join();

interface Tree {
  readonly root: JudgedProcess;
  /** A root of the same origin just before it. */
  readonly before: JudgedProcess | null;
}

/** The roots to be told, those of one leak side by side; and what to say of the others, behind the last one told. */
const foldLeaks = (
  roots: readonly JudgedProcess[],
  snapshot: Snapshot,
  all: boolean,
): { readonly trees: readonly Tree[]; readonly counted: ReadonlyMap<JudgedProcess, Counted> } => {
  const counted = new Map<JudgedProcess, Counted>();
  const groups = leakGroups(snapshot.processes);
  const grouped = new Set(groups.flatMap(group => group.roots));
  const trees = groups.flatMap((group): readonly Tree[] => {
    const present = group.roots.filter(root => roots.includes(root));
    // Counting one is no shorter than telling it.
    const told = all || present.length <= SHOWN_LEAKS + 1 ? present : present.slice(0, SHOWN_LEAKS);
    if (told.length < present.length) counted.set(told.at(-1)!, countRest(group, told));
    return told.map((root, at) => ({ root, before: told[at - 1] ?? null }));
  });
  const others = roots.filter(root => !grouped.has(root)).map(root => ({ root, before: null }));
  return { trees: [...others, ...trees], counted };
};

const countRest = ({ members }: LeakGroup, told: readonly JudgedProcess[]): Counted => {
  const shown = new Set(told.flatMap(root => forestOf(members, p => p.facts).subtreeOf(root)));
  const rest = members.filter(p => !shown.has(p));
  const bytes = rest.reduce((sum, p) => sum + memoryOf(p.facts), 0);
  const text = `and ${rest.length} more like these, ${formatBytes(bytes)} (see --all)`;
  return { text, drawing: '' };
};

/** tmux panes first, then everything else that runs, suspects, and all leaked roots together at the end. */
export const groupProcesses = (snapshot: Snapshot, all = false): Group[] => {
  const shown = snapshot.processes.filter(p => p.kind !== 'tmux' || p.seen.role !== 'tmux-server');
  // Parents are listed first: in a table in which two processes call each other parent, the first one is.
  const listed = new Map(shown.map((p, at) => [p, at]));
  const forest = forestOf(
    shown,
    p => p.facts,
    (parent, p) => listed.get(parent)! < listed.get(p)! && standsBelow(p, parent),
  );
  const leaked = forest.roots.filter(root => root.verdict === 'leak');
  const { trees, counted } = foldLeaks(leaked, snapshot, all);
  const groups = new Map<string, { section: Section; title: string; branches: (Branch | Counted)[] }>();
  const others = forest.roots.filter(root => root.verdict !== 'leak').map(root => ({ root, before: null }));
  for (const { root, before } of [...others, ...trees]) {
    const section = sectionOf(root);
    const title = section.title(root);
    const group = groups.get(title) ?? { section, title, branches: [] };
    groups.set(title, group);
    const explained = isExplained(root, null, before);
    drawTree({ process: root, drawing: '', explained }, forest.childrenOf, group.branches);
    const rest = counted.get(root);
    if (rest !== undefined) group.branches.push(rest);
  }
  return [...groups.values()]
    .sort((a, b) => a.section.order - b.section.order)
    .map(({ section, title, branches }) => ({ title, tone: section.tone, branches }));
};

/** Cells of the drawing that a row carries on to those below it: deeper than any line is wide. */
const DEEPEST = 1000;

interface Hanging {
  readonly branch: Branch;
  /** What stands before the drawing of its children. */
  readonly before: string;
}

/** What hangs below a process: its children, and how many more zombies it has. */
const below = (
  { branch: { process: p }, before }: Hanging,
  childrenOf: (p: JudgedProcess) => readonly JudgedProcess[],
): readonly (Hanging | Counted)[] => {
  const all = childrenOf(p);
  const zombies = all.filter(child => isZombie(child.facts));
  const told = zombies.length <= SHOWN_ZOMBIES + 1 ? zombies : zombies.slice(0, SHOWN_ZOMBIES);
  const children = [...all.filter(child => !isZombie(child.facts)), ...told];
  const more = zombies.length - told.length;
  const hanging = children.map((process, index): Hanging => {
    const last = more === 0 && index === children.length - 1;
    return {
      branch: {
        process,
        drawing: `${before}${last ? '└ ' : '├ '}`,
        explained: isExplained(process, p, null),
      },
      before: `${before}${last ? '  ' : '│ '}`.slice(-DEEPEST),
    };
  });
  return more === 0 ? hanging : [...hanging, { text: `${more} more`, drawing: `${before}└ ` }];
};

/** Not by recursion: a chain of thousands is deeper than the stack. */
const drawTree = (
  root: Branch,
  childrenOf: (p: JudgedProcess) => readonly JudgedProcess[],
  into: (Branch | Counted)[],
): void => {
  const pending: (Hanging | Counted)[] = [{ branch: root, before: '' }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    into.push('text' in next ? next : next.branch);
    if ('branch' in next) pending.push(...below(next, childrenOf).toReversed());
  }
};
