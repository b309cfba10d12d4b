import type { SignalName } from '../../model/plan.ts';
import type { System } from '../../observe/system.ts';
import { signalIdentity } from '../signal/signal-identity.ts';
import { type Run, settle, type Tracked } from './run.ts';
import { noteEnd, settleDead } from './watch.ts';

/** Only where a look is quick: a `ps` takes longer than what it would guard against. */
export const canHold = ({ backend, deliver }: System): boolean =>
  backend === 'procfs' && deliver === undefined;

/** Sends one ending signal; the identity is re-read right before. Every answer is noted. */
export const send = async (run: Run, t: Tracked, signal: SignalName): Promise<void> => {
  const { step } = t;
  if (signal !== 'SIGKILL' && (step.stopped || t.state === 'T')) {
    // A stopped process keeps TERM pending until it is continued.
    await signalIdentity(run.system, step, 'SIGCONT');
  }
  const hold = run.holds || (signal === 'SIGKILL' && canHold(run.system));
  const result = await signalIdentity(run.system, step, signal, { hold });
  switch (result.status) {
    case 'sent':
      t.sent = signal;
      run.onProgress({ type: 'signal', step, signal });
      return;
    case 'gone':
      if (result.held) t.sent ??= 'SIGSTOP';
      // It may wait to be reaped, and then its parent is to be named.
      noteEnd(run, t, await run.system.presence(step.pid));
      return;
    case 'changed':
      t.diedAt = run.clock.now();
      settleDead(run, t, 'its pid names another process now: nothing was sent');
      return;
    case 'denied':
      settle(run, t, 'denied', `the system does not permit ${signal} to it (EPERM)`);
      return;
    case 'unreadable':
      if (t.sent === null) settle(run, t, 'refused', `it could not be identified again: ${result.why}`);
      else settle(run, t, 'survived', `it got ${t.sent}, then could not be identified again: ${result.why}`);
  }
};
