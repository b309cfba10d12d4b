import type { Identity } from '../model/identity.ts';
import type { SignalName } from '../model/plan.ts';
import { isZombie } from '../model/process.ts';
import type { Presence, System } from '../observe/system.ts';

export type SignalResult =
  | { readonly status: 'sent' }
  /** `held`: it ended after we had stopped it for the signal. A job-control shell ends a job that is stopped. */
  | { readonly status: 'gone'; readonly held?: true }
  /** The pid now names another process: nothing was sent. */
  | { readonly status: 'changed' }
  | { readonly status: 'denied' }
  | { readonly status: 'unreadable'; readonly why: string };

/** What an act needs of a system to signal one of its processes. */
export type Signalled = Pick<System, 'readOnly' | 'presence' | 'deliver'>;

/** 0 and negative numbers name groups, 1 is init, 2 the kernel's own: no signal may ever go there. */
export const isEndable = (pid: number): boolean => Number.isInteger(pid) && pid > 2;

/**
 * Re-reads the identity, then signals it: the only way a signal leaves this program (other than tree-kill, which is
 * wrapped the same way). Where the presence is read at once, nothing lies between that read and the signal. Held, the
 * process cannot end in between either: see `holdStill`.
 */
export const signalIdentity = async (
  system: Signalled,
  target: Identity,
  signal: SignalName,
  { hold = false }: { readonly hold?: boolean } = {},
): Promise<SignalResult> => {
  if (system.readOnly !== null) return { status: 'unreadable', why: system.readOnly };
  if (!isEndable(target.pid)) return { status: 'denied' };
  if (!hold) return identifyAndSend(system, target, signal);
  // A hook that has run out of time exits in the middle: nothing may stay stopped for that.
  const hand = { stopped: false };
  const letGo = (): void => {
    if (hand.stopped) deliverTo(system, target.pid, 'SIGCONT');
  };
  process.once('exit', letGo);
  try {
    return await sendHeld(system, target, signal, hand);
  } finally {
    process.off('exit', letGo);
  }
};

const sendHeld = async (
  system: Signalled,
  target: Identity,
  signal: SignalName,
  hand: { stopped: boolean },
): Promise<SignalResult> => {
  const held = await holdStill(system, target, hand);
  if (held === 'ended') return { status: 'gone', held: true };
  const answer = held === 'restless' ? RESTLESS : await identifyAndSend(system, target, signal);
  const ends = signal === 'SIGKILL' && answer.status === 'sent';
  if (held !== 'untouched' && !ends) deliverTo(system, target.pid, 'SIGCONT');
  return held !== 'untouched' && answer.status === 'gone' ? { status: 'gone', held: true } : answer;
};

const identifyAndSend = async (
  system: Signalled,
  target: Identity,
  signal: SignalName,
): Promise<SignalResult> => {
  const read = system.presence(target.pid);
  const now = read instanceof Promise ? await read : read;
  return whyNot(now, target) ?? deliverTo(system, target.pid, signal);
};

/** Why the process at this pid gets no signal; null: it is the one, and ours. */
const whyNot = (now: Presence, target: Identity): SignalResult | null => {
  if (now.status !== 'present') return now;
  if (now.identity.start !== target.start) return { status: 'changed' };
  // Its parent may reap it at any moment, and give its number away.
  if (isZombie(now)) return { status: 'gone' };
  // A plan may hold a process that was not examined: a setuid program that runs as us for another user.
  const stranger = now.uids?.find(uid => uid !== process.getuid?.());
  return stranger === undefined
    ? null
    : { status: 'unreadable', why: `it belongs to another user (uid ${stranger})` };
};

const deliverTo = (system: Signalled, pid: number, signal: SignalName): SignalResult => {
  try {
    if (system.deliver === undefined) process.kill(pid, signal);
    else system.deliver(pid, signal);
    return { status: 'sent' };
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH' ? { status: 'gone' } : { status: 'denied' };
  }
};

/** A sleeping process stops within microseconds; one in the kernel's hands when it comes back from there. */
const LOOKS_AT_ONCE = 20;
const HOLD_MS = 30;
/** One that only waits for its turn on the processor gets it within this time, on a drowning machine too. */
const TURN_MS = 1500;

const RESTLESS: SignalResult = {
  status: 'unreadable',
  why: 'it did not hold still for the signal, and may be about to end',
};

/**
 * Stops a process, so that it cannot end by itself and leave its number to a stranger between the look at it and the
 * signal: a machine that is drowning may keep us waiting right there. Who is stopped by mistake, because the number
 * changed hands just then, goes on at once. `untouched`: it was not stopped by us; `ended`: it was, and is gone;
 * `restless`: it is on its way and does not stop, as one that is ending does not.
 */
const holdStill = async (
  system: Signalled,
  target: Identity,
  hand: { stopped: boolean },
): Promise<'untouched' | 'stopped' | 'ended' | 'restless'> => {
  const before = await system.presence(target.pid);
  if (whyNot(before, target) !== null || before.status !== 'present' || RESTS.has(before.state))
    return 'untouched';
  if (deliverTo(system, target.pid, 'SIGSTOP').status !== 'sent') return 'untouched';
  hand.stopped = true;
  const from = performance.now();
  for (let looks = 0; ; looks += 1) {
    const now = await system.presence(target.pid);
    if (now.status === 'gone') return 'ended';
    if (now.status === 'unreadable') return 'stopped';
    if (now.identity.start !== target.start) {
      deliverTo(system, target.pid, 'SIGCONT');
      return 'untouched';
    }
    if (RESTS.has(now.state)) return 'stopped';
    const waited = performance.now() - from;
    if (now.state !== 'R' && waited >= HOLD_MS) return 'stopped';
    if (waited >= TURN_MS) return 'restless';
    if (looks >= LOOKS_AT_ONCE) await new Promise(done => setTimeout(done, 1));
  }
};

/** Stopped, traced, or ended: it takes no step of its own any more. */
const RESTS: ReadonlySet<string> = new Set(['T', 't', 'Z', 'X']);
