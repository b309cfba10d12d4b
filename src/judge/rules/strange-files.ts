import type { ClaudeSession, Observation, StrangeFile } from '../../model/observation.ts';
import type { Node } from './tree.ts';

/** A session that cannot be told from a later process of the same pid; only Linux lets us compare start times. */
const lacksStart = (session: ClaudeSession, { host }: Observation): boolean =>
  session.procStart === null && host.backend === 'procfs';

/** Does a file speak of one of these agents? A roster speaks of all background sessions. */
const concerns = ({ pid }: StrangeFile, claudes: readonly Node[]): boolean =>
  claudes.some(({ facts, seen }) => (pid === null ? seen.role === 'claude-daemon' : facts.pid === pid));

/** Files of running Claudes that say something in a form unknown to us: which sessions those are is then unknown, too. */
export const strangeFilesOf = (observation: Observation, agents: readonly Node[]): readonly string[] => {
  const files = [
    ...observation.strange,
    ...observation.sessions.filter(session => lacksStart(session, observation)),
  ];
  const claudes = agents.filter(({ agent }) => agent === 'claude');
  return files.filter(file => concerns(file, claudes)).map(({ path }) => path);
};

/** One warning, however many there are. */
export const strangeWarning = ([first, ...more]: readonly string[]): string[] =>
  first === undefined
    ? []
    : [
        `${first}${more.length === 0 ? '' : ` and ${more.length} more`}: written by a version of Claude that reaptop does not know; what Claude left running is called suspect at most.`,
      ];
