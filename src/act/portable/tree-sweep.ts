import { forestOf } from '../../model/forest.ts';
import { type Identity, type IdentityKey, keyOf } from '../../model/identity.ts';
import type { SignalName } from '../../model/plan.ts';
import { isZombie, type ProcessFacts } from '../../model/process.ts';
import type { System } from '../../observe/system.ts';
import { isEndable, signalIdentity } from '../send-signal.ts';
import { treeKill } from './tree-kill.ts';

/** What became of one process, looked up afterwards and not taken from tree-kill. */
export interface Swept extends Identity {
  readonly outcome: 'ended' | 'gone' | 'changed' | 'denied' | 'survived' | 'refused';
  readonly why: string;
}

export interface TreeSweepOptions {
  /** Processes known to belong to the tree that may have another parent by now: tree-kill cannot see them. */
  readonly members?: readonly Identity[];
  /** Touch only the root and its members: anything else below them must stay, or was never judged. */
  readonly onlyMembers?: boolean;
  /** How long a signalled process may take to end. */
  readonly settleMs?: number;
}

/** Signals that are meant to end a process. */
export type EndingSignal = Extract<SignalName, 'SIGTERM' | 'SIGKILL' | 'SIGINT' | 'SIGHUP' | 'SIGQUIT'>;

const OVER: ReadonlySet<Swept['outcome'] | undefined> = new Set(['ended', 'gone', 'changed']);

const FIRST_POLL_MS = 5;
const LAST_POLL_MS = 320;

/** Leaves first: every start that is there, and its descendants, each once. */
const leavesFirst = (
  starts: readonly Identity[],
  processes: readonly ProcessFacts[],
): readonly ProcessFacts[] => {
  const forest = forestOf(processes, p => p);
  const asked = new Set(starts.map(keyOf));
  const present = processes.filter(p => asked.has(keyOf(p)));
  return forest.leavesFirst([...new Set(present.flatMap(p => forest.subtreeOf(p)))]);
};

/** Waits until the process has ended, and says whether it has. A zombie has. */
const ended = async (system: System, target: Identity, settleMs: number): Promise<boolean> => {
  const deadline = Date.now() + settleMs;
  for (let delay = FIRST_POLL_MS; ; delay = Math.min(delay * 2, LAST_POLL_MS)) {
    const now = await system.presence(target.pid);
    if (now.status === 'gone') return true;
    if (now.status === 'present' && (now.identity.start !== target.start || isZombie(now))) return true;
    if (Date.now() >= deadline) return false;
    await new Promise(done => setTimeout(done, delay));
  }
};

/**
 * Ends a whole tree with tree-kill, and closes its holes around it: every pid is checked to be
 * a plausible one and to be still the same process before; each gets a call of its own, in order, so that neither its
 * numeric order nor its stopping at the first EPERM matters; children that moved to another parent are passed in;
 * a missing `ps` refuses the sweep; and each end is looked up afterwards.
 */
export const sweepTree = async (
  system: System,
  root: Identity,
  signal: EndingSignal,
  { members = [], onlyMembers = false, settleMs = 2000 }: TreeSweepOptions = {},
  kill = treeKill,
): Promise<readonly Swept[]> => {
  const asked = [root, ...members];
  const refuse = (why: string): Swept[] =>
    asked.map(({ pid, start }) => ({ pid, start, outcome: 'refused', why }));
  if (!asked.every(target => isEndable(target.pid))) return refuse('this pid may not be ended');
  let processes: readonly ProcessFacts[];
  try {
    processes = (await system.sample()).processes;
  } catch (error) {
    return refuse((error as Error).message);
  }
  const family = leavesFirst(asked, processes);
  if (family.some(p => !isEndable(p.pid) || p.pid === process.pid))
    return refuse('reaptop itself or the system is inside this tree');
  const swept = new Map<IdentityKey, Swept>();
  for (const target of asked) swept.set(keyOf(target), absent(target, processes));
  const mine = new Set(asked.map(keyOf));
  // KILL goes from the root down: a parent that starts its children again must not outlive them.
  for (const p of signal === 'SIGKILL' ? [...family].reverse() : family) {
    if (onlyMembers && !mine.has(keyOf(p))) continue;
    swept.set(keyOf(p), await sweepOne(system, p, signal, settleMs, family, swept, kill));
  }
  return [...swept.values()];
};

/**
 * Ends exactly these identities where every signal costs a `ps`; gives those that ended. What is left is for the
 * caller to signal one by one.
 */
export const sweepStubborn = async (
  system: System,
  targets: readonly Identity[],
  kill = treeKill,
): Promise<readonly Identity[]> => {
  const [root, ...members] = targets;
  if (root === undefined) return [];
  const swept = await sweepTree(system, root, 'SIGKILL', { members, onlyMembers: true }, kill);
  return swept.filter(({ outcome }) => outcome === 'ended');
};

/** Not in the table under this identity. */
const absent = ({ pid, start }: Identity, processes: readonly ProcessFacts[]): Swept =>
  processes.some(p => p.pid === pid)
    ? { pid, start, outcome: 'changed', why: 'the pid belongs to another process now' }
    : { pid, start, outcome: 'gone', why: 'it had already ended' };

const sweepOne = async (
  system: System,
  target: ProcessFacts,
  signal: EndingSignal,
  settleMs: number,
  family: readonly ProcessFacts[],
  swept: ReadonlyMap<IdentityKey, Swept>,
  kill: typeof treeKill,
): Promise<Swept> => {
  const { pid, start } = target;
  const now = await system.presence(pid);
  if (now.status === 'unreadable') return { pid, start, outcome: 'refused', why: now.why };
  if (now.status === 'gone' || isZombie(now))
    return { pid, start, outcome: 'gone', why: 'it had already ended' };
  if (now.identity.start !== start)
    return { pid, start, outcome: 'changed', why: 'the pid belongs to another process now' };
  // A child that outlived its own signal, or is to be left alone, must not get one through its parent's tree.
  const stubborn = family.some(p => p.ppid === pid && !OVER.has(swept.get(keyOf(p))?.outcome));
  const answer = stubborn ? (await signalIdentity(system, target, signal)).status : await kill(pid, signal);
  // What was refused us will not end of it: no need to wait.
  if (await ended(system, target, answer === 'denied' ? 0 : settleMs))
    return { pid, start, outcome: 'ended', why: `ended after ${signal}` };
  return answer === 'denied'
    ? { pid, start, outcome: 'denied', why: 'the system does not let us signal it' }
    : { pid, start, outcome: 'survived', why: `still there after ${signal}` };
};
