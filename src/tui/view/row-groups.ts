import { plural } from '../../model/format.ts';
import type { JudgedProcess, Snapshot } from '../../model/snapshot.ts';
import type { Tone } from '../look/theme.ts';
import type { Branch } from './branch.ts';

/** A heading that top-level processes are gathered under. */
export interface Group {
  readonly key: string;
  readonly title: string;
  readonly note: string;
  readonly tone: Tone;
  /** Order on the screen: what needs a decision comes first. */
  readonly rank: number;
}

const LEAKED: Group = {
  key: 'group:leaked',
  title: 'leaked',
  note: 'proven; c cleans them',
  tone: 'leak',
  rank: 0,
};
const SUSPECT: Group = {
  key: 'group:suspect',
  title: 'suspect',
  note: 'evidence, no proof',
  tone: 'suspect',
  rank: 1,
};
const OUTSIDE: Group = {
  key: 'group:outside',
  title: 'outside tmux',
  note: '',
  tone: 'group',
  rank: 3,
};
const REST: Group = {
  key: 'group:rest',
  title: 'everything else',
  note: 'not related to an agent',
  tone: 'group',
  rank: 4,
};

/** Folded at first: hundreds of rows that nobody asks about. */
export const KERNEL: Group = {
  key: 'group:kernel',
  title: 'kernel threads',
  note: '',
  tone: 'group',
  rank: 5,
};

const DEFAULT_SOCKET = 'default';

/** The last part of a socket path: `/tmp/tmux-1000/work` is `work`. */
const socketName = (socket: string): string => socket.slice(socket.lastIndexOf('/') + 1);

const sessionGroup = (tmux: NonNullable<JudgedProcess['tmux']>, snapshot: Snapshot): Group => {
  const server = snapshot.tmux.find(s => s.socket === tmux.socket);
  const panes = server?.panes.filter(p => p.session === tmux.session) ?? [];
  const attached = panes.some(p => p.attached);
  const socket = socketName(tmux.socket);
  const notes = [
    socket === DEFAULT_SOCKET ? '' : `socket ${socket}`,
    panes.length > 1 ? plural(panes.length, 'pane') : '',
    panes.length > 0 && !attached ? 'detached' : '',
  ];
  return {
    key: `tmux:${tmux.socket}:${tmux.session}`,
    title: `tmux ${tmux.session}`,
    note: notes.filter(Boolean).join(', '),
    tone: 'group',
    rank: 2,
  };
};

/** What the rows are gathered by; `t` goes from one to the next. */
export const GROUPINGS = ['tmux', 'project', 'flat'] as const;
export type Grouping = (typeof GROUPINGS)[number];

const NO_PROJECT: Group = {
  key: 'group:no-project',
  title: 'no project',
  note: 'no agent among them says where it works',
  tone: 'group',
  rank: 3,
};

/** What needs a decision, and what is no matter of agents, is gathered alike in every tree. */
const commonGroup = (root: JudgedProcess): Group | null => {
  if (root.facts.kernelThread) return KERNEL;
  if (root.verdict === 'leak') return LEAKED;
  if (root.verdict === 'suspect' && !root.tmux) return SUSPECT;
  return root.related ? null : REST;
};

const tmuxGroup = (root: JudgedProcess, snapshot: Snapshot): Group =>
  root.tmux ? sessionGroup(root.tmux, snapshot) : OUTSIDE;

const projectGroup = (directory: string | null): Group =>
  directory === null
    ? NO_PROJECT
    : {
        key: `project:${directory}`,
        title: directory.slice(directory.lastIndexOf('/') + 1) || directory,
        note: directory,
        tone: 'group',
        rank: 2,
      };

const cwdOf = ({ process }: Branch): string | null => process.facts.details?.cwd ?? null;

/** The agents of a branch that are below no other agent. */
const outermostAgents = (branch: Branch): readonly Branch[] =>
  branch.process.session ? [branch] : branch.children.flatMap(outermostAgents);

interface Gathered {
  readonly group: Group;
  readonly branches: Branch[];
}

/** A branch goes to the project of its first agent; agents of the same shell in other projects go to theirs. */
const byProject = (root: Branch): readonly (readonly [Group, Branch])[] => {
  const [first, ...others] = outermostAgents(root);
  const home = cwdOf(first ?? root);
  const away = others.filter(agent => cwdOf(agent) !== home);
  const stays = away.length === 0 ? root : without(root, new Set(away));
  return [
    [projectGroup(home), stays] as const,
    ...away.map(agent => [projectGroup(cwdOf(agent)), agent] as const),
  ];
};

const without = (branch: Branch, away: ReadonlySet<Branch>): Branch => {
  const children = branch.children
    .filter(child => !away.has(child))
    .map(child => (outermostAgents(child).some(agent => away.has(agent)) ? without(child, away) : child));
  const left = { ...branch, children };
  for (const child of branch.children) {
    const kept = children.find(({ key }) => key === child.key);
    left.bytes -= child.bytes - (kept?.bytes ?? 0);
    left.cpu -= child.cpu - (kept?.cpu ?? 0);
    left.count -= child.count - (kept?.count ?? 0);
  }
  return left;
};

/** The headings in their order, each with what is gathered under it. */
export const groupBranches = (
  roots: readonly Branch[],
  snapshot: Snapshot,
  grouping: Exclude<Grouping, 'flat'>,
): readonly Gathered[] => {
  const groups = new Map<string, Gathered>();
  const gather = (group: Group, branch: Branch): void => {
    const entry = groups.get(group.key) ?? { group, branches: [] };
    entry.branches.push(branch);
    groups.set(group.key, entry);
  };
  for (const root of roots) {
    const common = commonGroup(root.process);
    if (common) gather(common, root);
    else if (grouping === 'tmux') gather(tmuxGroup(root.process, snapshot), root);
    else for (const [group, branch] of byProject(root)) gather(group, branch);
  }
  return [...groups.values()].sort(
    (a, b) => a.group.rank - b.group.rank || a.group.title.localeCompare(b.group.title),
  );
};
