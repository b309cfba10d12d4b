import { isSessionless } from '../../agents/index.ts';
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

const sameWords = (a: JudgedProcess, b: JudgedProcess | undefined): boolean =>
  JSON.stringify(a.facts.argv) === JSON.stringify(b?.facts.argv ?? null);

/** The pid a server works for: its parent, seen through the wrappers and shells in between. */
const worksFor = (p: JudgedProcess, byPid: ReadonlyMap<number, JudgedProcess>): number | null => {
  const passed = new Set<JudgedProcess>();
  let parent = byPid.get(p.facts.ppid ?? -1);
  let pid = p.facts.ppid;
  while (
    parent !== undefined &&
    (parent.kind === 'wrapper' || parent.kind === 'shell') &&
    !passed.has(parent)
  ) {
    passed.add(parent);
    pid = parent.facts.ppid;
    parent = byPid.get(pid ?? -1);
  }
  // A daemon that several sessions share runs one server for each of them.
  if (parent !== undefined && isSessionless(parent.seen.role)) return null;
  return pid === null || pid <= 1 ? null : pid;
};

/** The same server twice under one parent (one of them is unused), or for two agents in one project (only worth knowing). */
export const duplicateServer: Detector = ({ processes }) => {
  const byPid = new Map(processes.map(p => [p.facts.pid, p]));
  // Workers that a server forked have its words, and there are several on purpose.
  const servers = processes
    .filter(p => SERVERS.has(p.kind) && alive(p) && !sameWords(p, byPid.get(p.facts.ppid ?? -1)))
    .sort(oldestFirst);
  const words = (p: JudgedProcess): string => JSON.stringify([p.facts.argv, p.facts.details?.cwd ?? null]);
  const underOneParent = groupBy(servers, p => {
    const parent = worksFor(p, byPid);
    return parent === null ? null : `${parent} ${words(p)}`;
  });
  const acrossAgents = groupBy(servers, p =>
    p.verdict === 'live' && p.owner?.pid != null && p.facts.details?.cwd != null ? words(p) : null,
  ).filter(group => new Set(group.map(p => p.owner?.pid)).size > 1);
  return [
    ...underOneParent.map(group => {
      const newest = group.at(-1)!;
      return {
        id: 'duplicate-server',
        severity: 'warn',
        title: `${newest.name} runs ${group.length} times under ${worksFor(newest, byPid)}`,
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
