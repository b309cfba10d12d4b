import { formatAge } from '../model/format.ts';
import type { AgentSession } from '../model/snapshot.ts';

/** `“fix the lemma”`; empty where it has no name of its own. */
export const sessionTitle = ({ project, name }: AgentSession): string =>
  name === null || name === project ? '' : `“${name}”`;

/** `proofs`, or `proofs “fix the lemma”` when the session has a name of its own. */
export const sessionName = (session: AgentSession): string =>
  [session.project ?? '', sessionTitle(session)].filter(Boolean).join(' ');

const since = (seconds: number | null): string => (seconds === null ? '' : ` ${formatAge(seconds)}`);

/** `busy`, `idle 40m`, `waits for you: permission prompt 12m`; empty when nothing tells. */
export const sessionDoing = ({ doing, waitingFor, seconds }: AgentSession): string => {
  if (doing === null) return '';
  if (doing === 'busy') return 'busy';
  if (doing === 'idle') return `idle${since(seconds)}`;
  return `waits for you${waitingFor === null ? '' : `: ${waitingFor}`}${since(seconds)}`;
};

/** The same in few cells: `busy`, `idle 40m`, `waits 12m`. */
export const sessionBrief = ({ doing, seconds }: AgentSession): string => {
  if (doing === null || doing === 'busy') return doing ?? '';
  return `${doing === 'idle' ? 'idle' : 'waits'}${since(seconds)}`;
};

/** For whoever is about to end it: `busy now`, `last active 40m ago`, `waits for you 12m`. */
export const sessionLastActive = (session: AgentSession): string => {
  if (session.doing === 'busy') return 'busy now';
  if (session.doing === 'idle' && session.seconds !== null)
    return `last active ${formatAge(session.seconds)} ago`;
  return sessionDoing(session);
};
