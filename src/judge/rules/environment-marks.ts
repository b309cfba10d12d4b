import { EVIDENCE } from '../../agents/families.ts';
import type { Evidence } from '../../agents/family-type.ts';
import type { EnvName } from '../../model/process.ts';
import type { Node } from './tree.ts';

/** As many characters of a session's id as git shows of a commit's: enough to tell two apart. */
export const SHOWN_ID = 8;

/** A pid as a variable holds it. */
export const pidIn = (text: string | undefined): number | null =>
  text !== undefined && /^[1-9]\d{0,9}$/.test(text) ? Number(text) : null;

export const variableOf = (node: Node, name: EnvName | null): string | undefined =>
  name === null ? undefined : node.facts.env?.[name];

/** Did a session of this family put its marks into the environment of this process, or of one that started it? */
export const carriesMarks = (node: Node, { marks }: Evidence): boolean =>
  node.facts.env !== null && marks.some(name => node.facts.env?.[name] !== undefined);

/** Environment left by an agent: the process was once started below one. */
export const wasStartedByAgent = ({ facts }: Node): boolean => {
  // Asked of every process: most have no environment that was read, and most of the rest nothing in it.
  for (const name in facts.env) if (MARKS.has(name) && facts.env[name as EnvName] !== undefined) return true;
  return false;
};

const MARKS: ReadonlySet<string> = new Set(EVIDENCE.flatMap(({ marks }) => marks));

/** The ids of the sessions that its environment names, of every family. */
export const sessionsNamedBy = (node: Node): string[] =>
  EVIDENCE.flatMap(({ sessionIds }) => sessionIds.flatMap(name => variableOf(node, name) ?? []));

/** The sockets of the sessions that its environment names. */
export const socketsNamedBy = (node: Node): string[] =>
  EVIDENCE.flatMap(({ socket }) => variableOf(node, socket) ?? []);

/** The pids of the sessions that its environment names. */
export const pidsNamedBy = (node: Node): number[] =>
  EVIDENCE.flatMap(({ ownerPid }) => pidIn(variableOf(node, ownerPid)) ?? []);

/** The sessions and pids that its environment names, as one text to compare. */
export const namedBy = (node: Node): string => [...sessionsNamedBy(node), ...pidsNamedBy(node)].join();

/** A sandbox has a few helpers, which hide their environment, between what it was started by and what it runs. */
export const MOST_BETWEEN = 8;

/** What the nearest process above it names whose environment could be read; empty: nothing. */
export const namedAbove = (node: Node): string => {
  let above = node.parent;
  for (let step = 0; above !== null && above.facts.env === null; step += 1)
    above = step < MOST_BETWEEN ? above.parent : null;
  return above === null ? '' : namedBy(above);
};

/** It has the marks of its parent: the two have one owner. */
export const namesAsAbove = (node: Node): boolean => {
  const named = namedBy(node);
  return named !== '' && named === namedAbove(node);
};
