import { isSessionless } from '../agents/index.ts';
import { sessionLogOf } from '../agents/session-logs.ts';
import { isRunningAgent, type Tree } from '../judge/rules/tree.ts';
import type { Look } from '../model/observation.ts';
import type { LoggingAgent } from '../observe/files/session-logs.ts';
import { homeDirectory } from './config.ts';

/** Our user's agents whose families write their sessions down: what those of others do is nobody's business here. */
export const loggingAgents = (tree: Tree, look: Look, env: NodeJS.ProcessEnv): LoggingAgent[] =>
  tree.nodes.flatMap(node => {
    const { facts, agent, seen } = node;
    if (!isRunningAgent(node) || agent === null || sessionLogOf(agent) === null) return [];
    if (look.self === null || facts.uid !== look.self.uid) return [];
    return [
      {
        pid: facts.pid,
        start: facts.start,
        agent,
        cwd: facts.details?.cwd ?? null,
        home: facts.env?.HOME ?? homeDirectory(env),
        born: facts.born === null ? null : look.takenAt - (look.clock - facts.born) * 1000,
        holds: facts.details?.holds ?? [],
        daemon: isSessionless(seen.role),
      },
    ];
  });
