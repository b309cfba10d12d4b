import { keyOf } from '../model/identity.ts';
import type { Plan } from '../model/plan.ts';
import { identityOf, type JudgedProcess, type Snapshot } from '../model/snapshot.ts';
import { calls } from './process.ts';
import { sessionLastActive, sessionName } from './session.ts';

/** More than these are counted: the plan's list has them all. */
const NAMED = 3;

/** `the running codex session web in tmux work (last active 40s ago)`. */
const sessionText = (p: JudgedProcess): string => {
  const name = p.session ? sessionName(p.session) : '';
  const active = p.session ? sessionLastActive(p.session) : '';
  const place = p.tmux === null ? '' : ` in tmux ${p.tmux.session}`;
  return `the running ${p.agent ?? p.name} session${name && ` ${name}`}${place}${active && ` (${active})`}`;
};

const ownerText = (p: JudgedProcess, { processes }: Snapshot): string => {
  const owner = p.owner?.alive ? processes.find(o => o.facts.pid === p.owner?.pid) : undefined;
  if (owner === undefined) return '';
  const name = owner.session ? sessionName(owner.session) : '';
  return `, in use by ${calls(owner)}${name && ` ${name}`}`;
};

const liveText = (p: JudgedProcess, snapshot: Snapshot): string =>
  p.isSession ? sessionText(p) : `${calls(p)}${ownerText(p, snapshot)}`;

/** What is at work among the processes of the plan: sessions first, else the roots of what would be ended. */
const atWork = ({ steps }: Plan, { processes }: Snapshot): readonly JudgedProcess[] => {
  const named = new Set(steps.filter(s => s.signal !== 'SIGCHLD').map(keyOf));
  const roots = new Set(steps.map(s => keyOf(s.root)));
  const live = processes.filter(
    p => named.has(keyOf(identityOf(p))) && (p.verdict === 'live' || p.protection === 'soft'),
  );
  const sessions = live.filter(p => p.isSession);
  return sessions.length > 0 ? sessions : live.filter(p => roots.has(keyOf(identityOf(p))));
};

/** The first lines of a plan that would end live work: nobody may take it for a leak. */
export const liveWarnings = (plan: Plan, snapshot: Snapshot, verb: string): readonly string[] => {
  const live = atWork(plan, snapshot);
  const told = live.slice(0, NAMED).map(p => `LIVE: ${verb} ${liveText(p, snapshot)}`);
  return live.length > NAMED ? [...told, `LIVE: and ${live.length - NAMED} more`] : told;
};
