import { judge } from '../../src/judge/judge.ts';
import { prepareKnowledge, recognise } from '../../src/judge/recognise/recognise.ts';
import { Lineage } from '../../src/judge/rules/lineage.ts';
import { growTree, type Node, type Tree } from '../../src/judge/rules/tree.ts';
import { DEFAULT_CONFIG } from '../../src/model/config-defaults.ts';
import { type Reading, readingOf } from '../../src/model/heartbeat.ts';
import type { ClaudeSession, Observation, TmuxPane, TmuxServer } from '../../src/model/observation.ts';
import type { ProcessDetails, ProcessFacts } from '../../src/model/process.ts';
import type { JudgedProcess } from '../../src/model/snapshot.ts';
import { CLOCK, HOST, ordinary, PIPED, UID } from './machine.ts';

export { CLOCK, UID };

/** reaptop itself, below its own login shell. */
export const SELF = 90_000;

export interface Extra extends Partial<Omit<ProcessFacts, 'pid' | 'ppid' | 'argv' | 'details'>> {
  readonly argv?: readonly string[] | null;
  readonly details?: Partial<ProcessDetails> | null;
}

/** `[pid, ppid, 'command line', what differs from an ordinary process]`. */
export type Row = readonly [pid: number, ppid: number | null, command: string, extra?: Extra];

/** The user of `stdin` has gone: what can only talk over stdio is then leaked at an orphan root. */
const LEFT: ProcessDetails = { ...PIPED, cwd: '/home/me/project', cgroup: '', stdin: 'abandoned-socket' };

/** A command in brackets has a name only, as a zombie or a kernel thread. */
export const factsOf = ([pid, ppid, command, { argv, details, ...extra } = {}]: Row): ProcessFacts => {
  const bare = /^\[(.*)\]$/.exec(command)?.[1];
  const words = bare === undefined ? command.split(' ') : null;
  const program = bare ?? words?.[0] ?? '';
  return ordinary(pid, ppid, {
    start: `${pid}00`,
    uid: pid === 1 ? 0 : UID,
    born: pid === 1 ? 0 : pid,
    rss: 1024 ** 2,
    comm: program.slice(bare === undefined ? program.lastIndexOf('/') + 1 : 0).slice(0, 15),
    env: {},
    activity: { cpu: extra.cpu ?? 0, bytes: 0 },
    ...extra,
    argv: argv === undefined ? words : argv,
    details: details === null ? null : { ...LEFT, ...details },
  });
};

export const ZOMBIE: Extra = { state: 'Z', argv: null, rss: 0, env: null, details: null };
export const UNREADABLE: Extra = {
  start: '0',
  state: '?',
  unreadable: true,
  uid: null,
  born: null,
  argv: null,
  env: null,
  details: null,
};

/** What Claude writes for a running session of this pid. */
export const session = (
  pid: number,
  sessionId: string,
  extra: Partial<ClaudeSession> = {},
): ClaudeSession => ({
  pid,
  procStart: `${pid}00`,
  sessionId,
  cwd: null,
  kind: 'interactive',
  status: 'busy',
  statusUpdatedAt: null,
  waitingFor: null,
  name: null,
  jobId: null,
  socket: null,
  spare: false,
  adoptedOutputs: [],
  path: `/home/me/.claude/sessions/${pid}.json`,
  ...extra,
});

/** A tmux server that answered, with panes by the pid of their first process. */
export const tmux = (pid: number, panes: readonly number[], extra: Partial<TmuxServer> = {}): TmuxServer => ({
  socket: '/tmp/tmux-1000/default',
  pid,
  reachable: true,
  panes: panes.map((panePid, index): TmuxPane => {
    return {
      socket: '/tmp/tmux-1000/default',
      sessionId: '$0',
      session: 'main',
      windowId: `@${index}`,
      window: index,
      pane: `%${index}`,
      pid: panePid,
      tty: `pts/${index}`,
      dead: false,
      title: '',
      activity: null,
      attached: true,
    };
  }),
  ...extra,
});

/** The transcript of a claude of this pid, which was not written to for years and tells of no subagents. */
export const transcript = (pid: number, subagentAt: number | null = null): Reading =>
  readingOf(
    { pid, subagentAt },
    {
      path: `/home/me/.claude/projects/x/${pid}.jsonl`,
      root: '/home/me/.claude',
      format: 'transcript',
      source: null,
      mtime: 0,
      size: 1,
      unreadable: null,
    },
  );

export interface Around extends Partial<Omit<Observation, 'processes' | 'host'>> {
  readonly host?: Partial<Observation['host']>;
  readonly config?: Partial<typeof DEFAULT_CONFIG>;
  readonly lineage?: Lineage;
  readonly all?: boolean;
  /** Only the given rows: no PID 1, no login, no reaptop. */
  readonly bare?: boolean;
}

/** What every machine has: an init, a login on a terminal, and reaptop in it. */
const HOUSE: readonly Row[] = [
  [1, 0, '/sbin/init', { comm: 'systemd' }],
  [80_000, 1, 'sshd: me@pts/9', { comm: 'sshd', uid: 0, born: 2 }],
  [80_001, 80_000, '-bash', { tty: 'pts/9', born: 3 }],
  [SELF, 80_001, 'node /usr/bin/reaptop', { tty: 'pts/9', sid: 80_001 }],
];

export interface World {
  readonly observation: Observation;
  readonly tree: Tree;
  readonly lineage: Lineage;
  readonly snapshot: ReturnType<typeof judge>;
  readonly at: (pid: number) => JudgedProcess;
  readonly node: (pid: number) => Node;
  readonly verdict: (pid: number) => string;
  readonly why: (pid: number) => string;
}

/** Judges a machine made of short rows. A row with the pid of one of the house's replaces it. */
export const world = (rows: readonly Row[], around: Around = {}): World => {
  const { host, config, lineage = new Lineage(), all = true, bare = false, ...rest } = around;
  const own = new Set(rows.map(([pid]) => pid));
  const house = bare ? [] : HOUSE.filter(([pid]) => !own.has(pid));
  const observation: Observation = {
    takenAt: CLOCK * 1000,
    clock: CLOCK,
    host: { ...HOST, ...host },
    self: { pid: SELF, uid: UID, pgid: SELF, cgroup: null },
    processes: [...house, ...rows].map(factsOf),
    complete: true,
    warnings: [],
    tmux: [],
    sessions: [],
    workers: [],
    strange: [],
    servers: [],
    readings: [],
    ...rest,
  };
  const knowledge = prepareKnowledge({
    recognisers: config?.recognisers ?? [],
    servers: observation.servers,
  });
  const tree = growTree(observation, facts => recognise(facts, knowledge));
  const snapshot = judge({ observation, tree, config: { ...DEFAULT_CONFIG, ...config }, lineage, all });
  const at = (pid: number): JudgedProcess => {
    const found = snapshot.processes.find(p => p.facts.pid === pid);
    if (found === undefined) throw new Error(`${pid} is not in the snapshot`);
    return found;
  };
  return {
    observation,
    tree,
    lineage,
    snapshot,
    at,
    node: pid => tree.byPid.get(pid)!,
    verdict: pid => at(pid).verdict,
    why: pid => at(pid).why.join('; '),
  };
};

/** A lineage that has seen these worlds, in this order, as a sampler would. */
export const remembered = (...past: readonly World[]): Lineage => {
  const lineage = new Lineage();
  for (const { tree, observation } of past)
    lineage.record(
      tree,
      agent => observation.sessions.find(known => known.pid === agent.facts.pid)?.sessionId ?? null,
    );
  return lineage;
};
