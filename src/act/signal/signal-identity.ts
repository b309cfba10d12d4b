import { kill } from 'node:process';
import type { Identity } from '../../model/identity.ts';
import type { SignalName } from '../../model/plan.ts';
import type { System } from '../../observe/system.ts';

export type SignalResult =
  | { readonly status: 'sent' }
  | { readonly status: 'gone' }
  /** The pid now names another process: nothing was sent. */
  | { readonly status: 'changed' }
  | { readonly status: 'denied' }
  | { readonly status: 'unreadable'; readonly why: string };

/** What an act needs of a system to signal one of its processes. */
export type Signalled = Pick<System, 'readOnly' | 'presence' | 'deliver'>;

/** 0 and negative numbers name groups, 1 is init, 2 the kernel's own: no signal may ever go there. */
export const isEndable = (pid: number): boolean => Number.isInteger(pid) && pid > 2;

/**
 * Re-reads the identity, then signals it: the only way a signal leaves this program (besides tree-kill, which is
 * wrapped the same way). Where the presence is read at once, nothing lies between that read and the signal: the
 * shortest window user space can have without pidfds.
 */
export const signalIdentity = async (
  system: Signalled,
  target: Identity,
  signal: SignalName,
): Promise<SignalResult> => {
  if (system.readOnly !== null) return { status: 'unreadable', why: system.readOnly };
  if (!isEndable(target.pid)) return { status: 'denied' };
  const read = system.presence(target.pid);
  const now = read instanceof Promise ? await read : read;
  if (now.status !== 'present') return now;
  if (now.identity.start !== target.start) return { status: 'changed' };
  // A plan may hold what nobody looked at closely: a setuid program that runs as us for somebody else.
  const stranger = now.uids?.find(uid => uid !== process.getuid?.());
  if (stranger !== undefined)
    return { status: 'unreadable', why: `it belongs to another user (uid ${stranger})` };
  try {
    if (system.deliver === undefined) kill(target.pid, signal);
    else system.deliver(target.pid, signal);
    return { status: 'sent' };
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH' ? { status: 'gone' } : { status: 'denied' };
  }
};
