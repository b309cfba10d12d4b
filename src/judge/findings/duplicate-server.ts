import { plural } from '../../model/format.ts';
import { identityOf, type JudgedProcess } from '../../model/snapshot.ts';
import type { Detector } from './detector.ts';

const SERVERS: ReadonlySet<string> = new Set(['mcp', 'lean-lsp']);

const alive = (p: JudgedProcess): boolean =>
  p.facts.state !== 'Z' && p.facts.argv !== null && p.facts.argv.length > 0;

const groupBy = (
  items: readonly JudgedProcess[],
  key: (p: JudgedProcess) => string | null,
): JudgedProcess[][] => {
  const groups = new Map<string, JudgedProcess[]>();
  for (const item of items) {
    const name = key(item);
    if (name !== null) groups.set(name, [...(groups.get(name) ?? []), item]);
  }
  return [...groups.values()].filter(group => group.length > 1);
};

const oldestFirst = (a: JudgedProcess, b: JudgedProcess): number =>
  (a.facts.born ?? 0) - (b.facts.born ?? 0) || a.facts.pid - b.facts.pid;

/** The same server twice under one parent (one of them is unused), or for two agents in one project (only worth knowing). */
export const duplicateServer: Detector = ({ processes }) => {
  const servers = processes.filter(p => SERVERS.has(p.kind) && alive(p)).sort(oldestFirst);
  const words = (p: JudgedProcess): string => JSON.stringify([p.facts.argv, p.facts.details?.cwd ?? null]);
  const underOneParent = groupBy(servers, p =>
    p.facts.ppid === null || p.facts.ppid <= 1 ? null : `${p.facts.ppid} ${words(p)}`,
  );
  const acrossAgents = groupBy(servers, p =>
    p.verdict === 'live' && p.owner?.pid != null && p.facts.details?.cwd != null ? words(p) : null,
  ).filter(group => new Set(group.map(p => p.owner?.pid)).size > 1);
  return [
    ...underOneParent.map(group => {
      const newest = group.at(-1)!;
      return {
        id: 'duplicate-server',
        severity: 'warn',
        title: `${newest.name} runs ${group.length} times under ${newest.facts.ppid}`,
        why: `the same command in the same directory under the same parent; ${newest.facts.pid} is the newest and the one in use`,
        processes: group.map(identityOf),
        files: [],
        remedy: `after a look, end all but ${newest.facts.pid}`,
        action: 'end',
      } as const;
    }),
    ...acrossAgents.map(group => {
      const [first] = group;
      return {
        id: 'duplicate-server',
        severity: 'info',
        title: `${first!.name} serves one project for ${plural(group.length, 'agent')}`,
        why: `each live agent runs its own copy in ${first!.facts.details?.cwd}`,
        processes: group.map(identityOf),
        files: [],
        remedy: 'none needed: each agent uses its own',
        action: null,
      } as const;
    }),
  ];
};
