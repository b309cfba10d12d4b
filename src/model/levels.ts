import { type Linking, linkForest, pushTo, subtreeOf } from './forest.ts';
import { beatText, type Heartbeat } from './heartbeat.ts';
import { type IdentityKey, keyOf } from './identity.ts';
import { isZombie, memoryOf, portsOf } from './process.ts';
import {
  type AgentSession,
  identityOf,
  type JudgedProcess,
  type Owner,
  type Room,
  type Snapshot,
  sessionText,
} from './snapshot.ts';
import { homely, someOf } from './text.ts';
import { HEARTBEAT_TONES, type Level, SESSION_TONES, type Tone } from './ui-settings.ts';
import { plural } from './units.ts';

/** What asks for the user, the most urgent first. */
const ALARMS = ['waiting', 'hung', 'critical'] as const;
export type Alarm = (typeof ALARMS)[number];

/** A process and what hangs below it; the figures are of the whole subtree. */
export interface Branch extends Linking<Branch> {
  readonly key: IdentityKey;
  readonly process: JudgedProcess;
  children: Branch[];
  bytes: number;
  count: number;
  /** Percent of one core; null: not known of any of them. */
  cpu: number | null;
  /** Unreaped children that any of them owes a wait. */
  zombies: number;
  /** TCP ports that any of them listens on. */
  ports: readonly number[];
  /** Sessions among them. */
  sessions: number;
  /** Of this very process. */
  readonly ownAlarm: Alarm | null;
  /** The most urgent of them all. */
  alarm: Alarm | null;
}

/** What top-level processes are gathered under. */
export interface Group {
  readonly key: string;
  readonly title: string;
  readonly note: string;
  readonly tone: 'leak' | 'suspect' | 'server' | 'asleep' | 'group';
  /** Order on the screen: what needs a decision comes first. */
  readonly rank: number;
  /**
   * How the screen shows it: `heading` over its rows; `row`, one row that stands for all that one dead session or one
   * program left; `none`: its rows stand for themselves.
   */
  readonly shown: 'heading' | 'row' | 'none';
}

/** What the rows are gathered by; `t` goes from one to the next. */
export const GROUPINGS = ['tmux', 'project', 'flat'] as const;

export type Grouping = (typeof GROUPINGS)[number];

const ALARM_TITLES = {
  waiting: 'waiting for you',
  hung: 'hung',
  critical: 'critical',
} satisfies Record<Alarm, string>;

const alarmGroup = (alarm: Alarm): Group => ({
  key: `group:${alarm}`,
  title: ALARM_TITLES[alarm],
  note: '',
  tone: 'group',
  rank: ALARMS.indexOf(alarm),
  shown: 'none',
});

const LEAK_RANK = 3;
const SUSPECT_RANK = 4;
const PLACE_RANK = 5;

const OUTSIDE: Group = {
  key: 'group:outside',
  title: 'outside tmux',
  note: '',
  tone: 'group',
  rank: PLACE_RANK + 1,
  shown: 'heading',
};
const REST: Group = {
  key: 'group:rest',
  title: 'everything else',
  note: 'not related to an agent',
  tone: 'group',
  rank: PLACE_RANK + 2,
  shown: 'heading',
};

/** Folded at first: hundreds of rows of little interest. */
export const KERNEL: Group = {
  key: 'group:kernel',
  title: 'kernel threads',
  note: '',
  tone: 'group',
  rank: PLACE_RANK + 3,
  shown: 'heading',
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
    rank: PLACE_RANK,
    shown: 'heading',
  };
};

const NO_PROJECT: Group = {
  key: 'group:no-project',
  title: 'no project',
  note: 'the directory of its agents is not known',
  tone: 'group',
  rank: PLACE_RANK + 1,
  shown: 'heading',
};

const tmuxGroup = (root: JudgedProcess, snapshot: Snapshot): Group =>
  root.tmux ? sessionGroup(root.tmux, snapshot) : OUTSIDE;

const projectGroup = (directory: string | null): Group =>
  directory === null
    ? NO_PROJECT
    : {
        key: `project:${directory}`,
        title: directory.slice(directory.lastIndexOf('/') + 1) || directory,
        note: homely(directory),
        tone: 'group',
        rank: PLACE_RANK,
        shown: 'heading',
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
    const copy = {
      ...alone(branch.process, branch.ownAlarm),
      parent: branch.parent,
      children: branch.children.flatMap(child => left.get(child) ?? []),
    };
    addChildren(copy);
    left.set(branch, copy);
  }
  return left.get(root)!;
};

/** What was left by one dead session; by one program where no session is known. Each root with its subtree. */
export interface LeftBehind {
  readonly session: Owner | null;
  readonly roots: readonly JudgedProcess[];
}

/** One piece of evidence may name an agent's pid and another its session: those that name both join them. */
const sessionKeys = (roots: readonly JudgedProcess[]): ((owner: Owner) => string) => {
  const known = new Map<string, string>();
  const pidKey = ({ pid, start }: Owner): string => `agent ${pid}:${start}`;
  for (const { owner } of roots)
    if (owner?.sessionId != null && owner.pid !== null) known.set(pidKey(owner), owner.sessionId);
  return owner => owner.sessionId ?? known.get(pidKey(owner)) ?? pidKey(owner);
};

const deadOwner = ({ owner }: JudgedProcess): Owner | null => (owner === null || owner.alive ? null : owner);

/** The roots of leaked or suspect trees, by who left them. */
export const leftBehind = (roots: readonly JudgedProcess[]): readonly LeftBehind[] => {
  const keyFor = sessionKeys(roots);
  const groups = new Map<string, JudgedProcess[]>();
  for (const root of roots) {
    const session = deadOwner(root);
    pushTo(groups, session === null ? `program ${root.name}` : keyFor(session), root);
  }
  return Array.from(groups.values(), left => ({
    session: deadOwner(left.find(root => deadOwner(root)?.sessionId != null) ?? left[0]!),
    roots: left,
  }));
};

/** `session 9c33ca78 (proofs)`, `agent 2988`, `lean-lsp-mcp`. */
export const originOf = ({ session, roots }: LeftBehind): string => {
  if (session === null) return roots[0]!.name;
  const where = session.project === undefined ? '' : ` (${session.project})`;
  const who =
    session.sessionId === null ? `agent ${session.pid}` : `session ${session.sessionId.slice(0, 8)}`;
  return `${who}${where}`;
};

/** Leaked or suspect trees, one group for what one dead session or one program left. */
const gatherLeft = (branches: readonly Branch[], verdict: 'leak' | 'suspect'): readonly Gathered[] => {
  const byProcess = new Map(branches.map(branch => [branch.process, branch]));
  return leftBehind(branches.map(({ process }) => process)).map(left => {
    const present = left.roots.map(root => byProcess.get(root)!);
    const count = present.reduce((sum, branch) => sum + branch.count, 0);
    const names = someOf([...new Set(present.map(branch => runsIn(branch).process.name))]);
    const why = left.session === null ? left.roots[0]!.why[0] : 'ended';
    const told = left.session === null ? '' : `: ${names}`;
    return {
      group: {
        // By its first process: a suspect that is proven leaked keeps its row, and when the leaks of a session have
        // ended the selection does not slide onto its suspects.
        key: `left:${keyOf(identityOf(left.roots[0]!))}`,
        title: originOf(left),
        note: `${why ?? verdict}, ${plural(count, 'process', 'processes')}${told}`,
        tone: verdict,
        rank: verdict === 'leak' ? LEAK_RANK : SUSPECT_RANK,
        // One that stands for itself alone says more with its own row.
        shown: left.session === null && present.length === 1 ? 'none' : 'row',
      },
      branches: present,
    };
  });
};

/**
 * What needs the user on top, then what was left behind, then the trees by tmux session or by project; each group with
 * what is gathered under it. The screen and `--once` show these in this order.
 */
export const groupBranches = (
  tops: readonly Branch[],
  snapshot: Snapshot,
  grouping: Exclude<Grouping, 'flat'>,
): readonly Gathered[] => {
  const groups = new Map<string, Gathered>();
  const gather = (group: Group, branch: Branch): void => {
    const entry = groups.get(group.key) ?? { group, branches: [] };
    entry.branches.push(branch);
    groups.set(group.key, entry);
  };
  const left = { leak: [] as Branch[], suspect: [] as Branch[] };
  for (const top of tops) {
    const { verdict, tmux, facts, related } = top.process;
    if (facts.kernelThread) gather(KERNEL, top);
    else if (verdict === 'leak' || (verdict === 'suspect' && tmux === null)) left[verdict].push(top);
    else if (!related) gather(REST, top);
    else if (top.alarm !== null) gather(alarmGroup(top.alarm), top);
    else if (grouping === 'tmux') gather(tmuxGroup(top.process, snapshot), top);
    else for (const [group, branch] of byProject(top)) gather(group, branch);
  }
  return [...groups.values(), ...gatherLeft(left.leak, 'leak'), ...gatherLeft(left.suspect, 'suspect')].sort(
    (a, b) =>
      a.group.rank - b.group.rank ||
      // What was left stands in the order in which it was started.
      (a.group.shown === 'heading' ? a.group.title.localeCompare(b.group.title) : 0),
  );
};

/** A tmux server is the roof over its sessions, not a row among them; it is listed with all processes. */
const isRoof = (p: JudgedProcess): boolean => p.kind === 'tmux';

const shown = (p: JudgedProcess, all: boolean): boolean => all || (p.related && !isRoof(p));

const isAlive = ({ process }: Branch): boolean => !isZombie(process.facts);

/** The more urgent of both. */
const louder = (a: Alarm | null, b: Alarm | null): Alarm | null =>
  ALARMS.find(alarm => alarm === a || alarm === b) ?? null;

/** What is leaked or suspect is shown as that. */
const alarmOf = (p: JudgedProcess, isCritical: boolean): Alarm | null => {
  if (p.verdict === 'leak' || p.verdict === 'suspect') return null;
  if (p.session?.doing === 'waiting') return 'waiting';
  if (p.session?.calls?.some(call => call.hung === true)) return 'hung';
  return isCritical ? 'critical' : null;
};

const alone = (process: JudgedProcess, ownAlarm: Alarm | null): Branch => ({
  key: keyOf(identityOf(process)),
  process,
  parent: null,
  children: [],
  bytes: memoryOf(process.facts),
  count: 1,
  cpu: process.facts.cpu,
  zombies: process.zombies,
  ports: portsOf(process.facts),
  sessions: process.isSession ? 1 : 0,
  ownAlarm,
  alarm: ownAlarm,
});

const addChildren = (branch: Branch): void => {
  for (const child of branch.children) {
    branch.bytes += child.bytes;
    branch.count += child.count;
    if (child.cpu !== null) branch.cpu = (branch.cpu ?? 0) + child.cpu;
    branch.zombies += child.zombies;
    if (child.ports.length > 0) branch.ports = [...new Set([...branch.ports, ...child.ports])];
    branch.sessions += child.sessions;
    branch.alarm = louder(branch.alarm, child.alarm);
  }
};

const sum = (root: Branch): void => {
  const parentsFirst: Branch[] = [];
  for (const branch of subtreeOf(root)) {
    // A zombie is folded into the count on the parent that owes the wait.
    if (!branch.children.every(isAlive)) branch.children = branch.children.filter(isAlive);
    parentsFirst.push(branch);
  }
  for (const branch of parentsFirst.reverse()) addChildren(branch);
};

/** The processes as trees, with what each tree holds; a zombie is counted on the parent that owes the wait. */
export const branchesOf = (snapshot: Snapshot, all: boolean): Branch[] => {
  const critical = new Set<IdentityKey>();
  for (const finding of snapshot.findings)
    if (finding.severity === 'critical') for (const one of finding.processes) critical.add(keyOf(one));
  const branches: Branch[] = [];
  for (const process of snapshot.processes)
    if (shown(process, all))
      branches.push(alone(process, alarmOf(process, critical.has(keyOf(process.facts)))));
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

/** It only runs something else: `npm exec`, `sh -c`, a user's shell. What the Bash tool runs is named for its command. */
const onlyRuns = ({ process: { kind, seen } }: Branch): boolean =>
  kind === 'wrapper' || (kind === 'shell' && seen.role !== 'bash-tool');

/** The end of a chain of wrappers: what it runs, and is named for. */
export const runsIn = (branch: Branch): Branch => {
  let at = branch;
  while (onlyRuns(at) && at.children.length === 1 && !at.process.isSession) at = at.children[0]!;
  return onlyRuns(at) ? branch : at;
};

/** A shell or wrapper between the machine and a session: of no interest while sessions are looked at. */
const isPassage = (branch: Branch): boolean =>
  branch.sessions > 0 && !branch.process.isSession && onlyRuns(branch);

/** What has a row at the top of this level, or of what is below a row. */
const rowsOf = (branches: readonly Branch[], isHidden: (branch: Branch) => boolean): readonly Branch[] => {
  if (!branches.some(isHidden)) return branches;
  const found: Branch[] = [];
  const pending = [...branches].reverse();
  for (let next = pending.pop(); next !== undefined; next = pending.pop())
    if (isHidden(next)) pending.push(...[...next.children].reverse());
    else found.push(next);
  return found;
};

const isLeft = ({ process: { verdict, tmux } }: Branch): boolean =>
  verdict === 'leak' || (verdict === 'suspect' && tmux === null);

/** The top-level rows of a level: every tree; sessions out of their shells; every session, and what was left behind. */
export const topsOf = (
  roots: readonly Branch[],
  level: Level,
  isWanted = (_branch: Branch) => false,
): readonly Branch[] => {
  if (level === 3) return roots;
  if (level === 2) return rowsOf(roots, branch => !isLeft(branch) && isPassage(branch) && !isWanted(branch));
  const sessions: Branch[] = [];
  for (const root of roots) {
    if (isLeft(root)) sessions.push(root);
    else for (const branch of subtreeOf(root)) if (branch.process.isSession) sessions.push(branch);
  }
  return sessions;
};

/** More than this is worth a row of its own. */
const QUIET_BYTES = 200 * 1024 ** 2;

/** A server of which there is nothing to say: those of one session share a row. */
export const isQuiet = (branch: Branch): boolean =>
  runsIn(branch).process.kind === 'mcp' &&
  branch.process.verdict === 'live' &&
  branch.alarm === null &&
  branch.zombies === 0 &&
  branch.sessions === 0 &&
  branch.bytes < QUIET_BYTES;

/** The row that quiet servers of one session share. */
export const quietGroup = (parent: Branch, servers: readonly Branch[]): Group => ({
  key: `servers:${parent.key}`,
  title: servers.map(server => runsIn(server).process.name).join(', '),
  note: plural(servers.length, 'server'),
  tone: 'server',
  rank: 0,
  shown: 'row',
});

/** What a row of this level holds. A session below another has a row of its own where sessions are looked at. */
export const childrenOf = (branch: Branch, level: Level): readonly Branch[] =>
  level === 1 && !isLeft(branch)
    ? branch.children.filter(({ process }) => !process.isSession)
    : branch.children;

/** Whether a row is closed before the user opens it: servers, shells and builds are one row each. */
export const isFoldedAt = (branch: Branch, level: Level): boolean => {
  if (level === 3) return false;
  if (level === 1 || isLeft(branch)) return true;
  return branch.sessions === 0;
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
const argumentsOf = (whole: string, name: string): string => {
  // A program that writes its own title has it as one word, which is quoted.
  const command = /^'[^']*'$/.test(whole) ? whole.slice(1, -1) : whole;
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
  const cwd = p.facts.details?.cwd == null ? null : homely(p.facts.details.cwd);
  if ((p.kind === 'agent' || p.kind === 'lake') && cwd) return { text: cwd, tone: 'faint' };
  // The Bash tool's own words around the command would fill every row with the same.
  if (p.seen.role === 'bash-tool') return { text: cwd ?? '', tone: 'faint' };
  return {
    text: homely(argumentsOf(p.command, p.name)) || (p.kind === 'shell' ? '' : (cwd ?? '')),
    tone: 'faint',
  };
};
