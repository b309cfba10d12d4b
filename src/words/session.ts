import { formatAge } from '../model/format.ts';
import type { AgentSession } from '../model/snapshot.ts';
import { cells, cut } from '../model/text.ts';

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

/** Fewer cells of a project's name than this tell nothing. */
export const LEAST_PROJECT = 3;

/** What there is room for, and what stands in place of the rest. */
export interface Room {
  readonly cells: number;
  readonly ellipsis: string;
}

const ENDLESS: Room = { cells: Number.POSITIVE_INFINITY, ellipsis: '' };

/** The project is cut, what it is doing is not. */
const squeezed = (project: string, brief: string, { cells: room, ellipsis }: Room): string => {
  const left = room - cells(brief) - 2;
  return left < LEAST_PROJECT ? brief : `${cut(project, left, ellipsis)}: ${brief}`;
};

/** `proofs “fix the lemma”: waits for you: permission prompt 12m`, or as much of that as fits, what it does above all. */
export const sessionText = (session: AgentSession, room = ENDLESS): string => {
  const joined = (...parts: readonly string[]): string => parts.filter(Boolean).join(': ');
  const project = session.project ?? '';
  const doing = sessionDoing(session);
  const brief = sessionBrief(session);
  const name = sessionName(session);
  const ways = [joined(name, doing), joined(project, doing), joined(name, brief), joined(project, brief)];
  return (
    ways.find(way => cells(way) <= room.cells) ?? (brief === '' ? ways[0]! : squeezed(project, brief, room))
  );
};

/** For whoever is about to end it: `busy now`, `last active 40m ago`, `waits for you 12m`. */
export const sessionLastActive = (session: AgentSession): string => {
  if (session.doing === 'busy') return 'busy now';
  if (session.doing === 'idle' && session.seconds !== null)
    return `last active ${formatAge(session.seconds)} ago`;
  return sessionDoing(session);
};
