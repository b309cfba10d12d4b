import { isZombie } from '../../model/process.ts';
import { identityOf, label } from '../../model/snapshot.ts';
import { plural } from '../../model/units.ts';
import type { Detector } from './detector.ts';

const SERVERS: ReadonlySet<string> = new Set(['mcp', 'lean-lsp']);

/** One finding per parent that owes a wait: the zombie itself can do nothing any more. */
export const zombie: Detector = ({ processes, files, config }) =>
  processes
    .filter(parent => parent.zombies > 0)
    .map(parent => {
      const dead = files.forest.childrenOf(parent).filter(p => isZombie(p.facts));
      const names = [...new Set(dead.map(p => p.facts.comm))].slice(0, 3).join(', ');
      const server = SERVERS.has(parent.kind);
      const session = parent.owner?.sessionId ?? null;
      return {
        id: 'zombie',
        severity: server || parent.zombies >= config.thresholds.zombie.criticalCount ? 'critical' : 'warn',
        title: `${label(parent)} has ${plural(parent.zombies, 'zombie child', 'zombie children')}${names && ` (${names})`}`,
        why: `${names || 'its children'} ended and ${label(parent)} did not collect ${dead.length === 1 ? 'it' : 'them'}${server ? '; later calls to this server may hang' : ''}`,
        processes: [identityOf(parent), ...dead.map(identityOf)],
        files: [],
        remedy: server
          ? `send SIGCHLD to ${parent.facts.pid}, then end it if it is idle${session === null ? '' : ` (session ${session} loses this server)`}`
          : `send SIGCHLD to ${parent.facts.pid}; reaptop does not end it because of zombies`,
        action: 'zombies',
      };
    });
