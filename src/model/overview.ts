import { type Linking, linkForest, subtreeOf } from './forest.ts';
import { beatText, type Heartbeat } from './heartbeat.ts';
import { keyOf } from './identity.ts';
import { isZombie, memoryOf } from './process.ts';
import {
  type AgentSession,
  identityOf,
  type JudgedProcess,
  type Room,
  type Snapshot,
  sessionText,
} from './snapshot.ts';
import { HEARTBEAT_TONES, SESSION_TONES, type Tone } from './ui-settings.ts';
import { plural } from './units.ts';

/** A process and what hangs below it; the figures are of the whole subtree. */
export interface Branch extends Linking<Branch> {
  readonly key: string;
  readonly process: JudgedProcess;
  children: Branch[];
  bytes: number;
  count: number;
}

/** A heading that top-level processes are gathered under. */
export interface Group {
  readonly key: string;
  readonly title: string;
  readonly note: string;
  /** A key of the screen that helps. */
  readonly hint?: string | undefined;
  readonly tone: 'leak' | 'suspect' | 'group';
  /** Order on the screen: what needs a decision comes first. */
  readonly rank: number;
}

/** What the rows are gathered by; `t` goes from one to the next. */
export const GROUPINGS = ['tmux', 'project', 'flat'] as const;

export type Grouping = (typeof GROUPINGS)[number];

const LEAKED: Group = {
  key: 'group:leaked',
  title: 'leaked',
  note: 'proven',
  hint: 'press c to clean',
  tone: 'leak',
  rank: 0,
};
const SUSPECT: Group = {
  key: 'group:suspect',
  title: 'suspect',
  note: 'probably leaked',
  hint: 'check, then x',
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

/** Folded at first: hundreds of rows of little interest. */
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
  [...subtreeOf(branch, ({ parent }) => !parent?.process.session)].filter(({ process }) => process.session);

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

/** The branch and what is below it, but for these; its figures too. */
const without = (root: Branch, away: ReadonlySet<Branch>): Branch => {
  const left = new Map<Branch, Branch>();
  // Backwards, so that every child is known before its parent.
  for (const branch of [...subtreeOf(root, below => !away.has(below))].reverse()) {
    const copy = { ...branch, children: branch.children.flatMap(child => left.get(child) ?? []) };
    for (const child of branch.children) {
      copy.bytes -= child.bytes - (left.get(child)?.bytes ?? 0);
      copy.count -= child.count - (left.get(child)?.count ?? 0);
    }
    left.set(branch, copy);
  }
  return left.get(root)!;
};

/** A heading's note as the screen shows it. */
export const noteOnScreen = ({ note, hint }: Group): string =>
  hint === undefined ? note : `${note}; ${hint}`;

/** The headings in their order, each with what is gathered under it. */
export const groupBranches = (
  roots: readonly Branch[],
  snapshot: Snapshot,
  grouping: Exclude<Grouping, 'flat'>,
): readonly Gathered[] => {
  const groups = new Map<string, Gathered>();
  // Nothing can be done about what was recorded.
  const isRecorded = snapshot.host.backend === 'recorded';
  const gather = (group: Group, branch: Branch): void => {
    const entry = groups.get(group.key) ?? { group, branches: [] };
    entry.branches.push(branch);
    groups.set(group.key, entry);
  };
  for (const root of roots) {
    const common = commonGroup(root.process);
    if (common) gather(isRecorded ? { ...common, hint: undefined } : common, root);
    else if (grouping === 'tmux') gather(tmuxGroup(root.process, snapshot), root);
    else for (const [group, branch] of byProject(root)) gather(group, branch);
  }
  return [...groups.values()].sort(
    (a, b) => a.group.rank - b.group.rank || a.group.title.localeCompare(b.group.title),
  );
};

/** A tmux server is the roof over its sessions, not a row among them; it is listed with all processes. */
const isRoof = (p: JudgedProcess): boolean => p.kind === 'tmux';

const shown = (p: JudgedProcess, all: boolean): boolean => all || (p.related && !isRoof(p));

const isAlive = ({ process }: Branch): boolean => !isZombie(process.facts);

const sum = (root: Branch): void => {
  const parentsFirst: Branch[] = [];
  for (const branch of subtreeOf(root)) {
    // A zombie is folded into the count on the parent that owes the wait.
    if (!branch.children.every(isAlive)) branch.children = branch.children.filter(isAlive);
    parentsFirst.push(branch);
  }
  for (const branch of parentsFirst.reverse())
    for (const child of branch.children) {
      branch.bytes += child.bytes;
      branch.count += child.count;
    }
};

/** The processes as trees, with what each tree holds; a zombie is counted on the parent that owes the wait. */
export const branchesOf = (snapshot: Snapshot, all: boolean): Branch[] => {
  const branches: Branch[] = [];
  for (const process of snapshot.processes) {
    if (!shown(process, all)) continue;
    branches.push({
      key: keyOf(identityOf(process)),
      process,
      parent: null,
      children: [],
      bytes: memoryOf(process.facts),
      count: 1,
    });
  }
  linkForest(
    branches,
    ({ process }) => process.facts,
    // A tmux server or PID 1 holds what is grouped by session or by verdict.
    ({ process }) => !isRoof(process) && process.facts.pid !== 1,
  );
  const roots = branches.filter(({ parent }) => parent === null);
  for (const root of roots) sum(root);
  return roots;
};

/** How loud it is; `reason`: why something is a leak. */
export type DoingTone = Tone | 'reason' | 'suspect';

export interface Doing {
  readonly text: string;
  readonly tone: DoingTone;
}

export const beatTone = (beat: Heartbeat): DoingTone => HEARTBEAT_TONES[beat.state];

export const sessionTone = ({ doing }: AgentSession): DoingTone =>
  doing === null ? 'faint' : SESSION_TONES[doing];

const sessionRun = (session: AgentSession, room?: Room): Doing | null => {
  const text = sessionText(session, room);
  return text === '' ? null : { text, tone: sessionTone(session) };
};

/** `zsh` of `/usr/bin/zsh` and of the `-zsh` of a login shell. */
const basename = (word: string): string => word.slice(word.lastIndexOf('/') + 1).replace(/^-/, '');

/** The command without what the name column says already: the program, and the interpreter before it. */
const argumentsOf = (command: string, name: string): string => {
  if (command === `[${name}]`) return '';
  // The name may stop short of a version: `npm exec x` of `npm exec x@latest`.
  if (command.startsWith(name)) return command.slice(name.length).replace(/^\S*\s*/, '');
  const words = command.split(' ');
  const program = name.split(' ')[0]!;
  const at = words.slice(0, 3).findIndex(word => basename(word) === program);
  return at < 0 ? command : words.slice(at + 1).join(' ');
};

/** What its row knows beside the process. */
export interface Around {
  readonly beat: Heartbeat | null;
  /** Its reasons stand elsewhere: at the row above, or below this one. */
  readonly inherits: boolean;
}

/** The reason when it is not live, its heartbeat. */
const reasonOrBeat = (p: JudgedProcess, { beat, inherits }: Around): Doing | null => {
  const why = inherits ? undefined : p.why[0];
  if (p.verdict === 'leak' && why) return { text: why, tone: 'reason' };
  if (p.verdict === 'suspect' && why) return { text: why, tone: 'suspect' };
  // A transcript says no more than that it is written to.
  const text = beat ? beatText(beat) : '';
  if (beat && text !== '') return { text, tone: beatTone(beat) };
  return p.verdict === 'protected' && why ? { text: why, tone: 'faint' } : null;
};

/** What a process is doing, in one line; of an agent first which session it is and what that does now, within `room`. */
export const describe = (p: JudgedProcess, around: Around, room?: Room): Doing => {
  const session = p.session ? sessionRun(p.session, room) : null;
  const more = reasonOrBeat(p, around);
  if (session && more) {
    // An answer is wanted: that comes before what its files say.
    const tone = p.session?.doing === 'waiting' ? session.tone : more.tone;
    return { text: `${session.text}; ${more.text}`, tone };
  }
  if (session ?? more) return (session ?? more)!;
  const cwd = p.facts.details?.cwd;
  if ((p.kind === 'agent' || p.kind === 'lake') && cwd) return { text: cwd, tone: 'faint' };
  // The Bash tool's own words around the command would fill every row with the same.
  if (p.seen.role === 'bash-tool') return { text: cwd ?? '', tone: 'faint' };
  return { text: argumentsOf(p.command, p.name) || (p.kind === 'shell' ? '' : (cwd ?? '')), tone: 'faint' };
};
