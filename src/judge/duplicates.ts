import { servesSeveral } from '../agents/families.ts';
import { type Forest, pushTo } from '../model/forest.ts';
import { isZombie, sameArgv } from '../model/process.ts';
import { type JudgedProcess, label } from '../model/snapshot.ts';

/** Several processes where one would do. */
export interface Siblings {
  /** Oldest first. */
  readonly members: readonly JudgedProcess[];
  /** What they have in common: the process they work for, or the project they build. */
  readonly of: string;
}

/** The one to keep and the others; null when their ages do not tell which it is. */
export interface Choice {
  readonly kept: JudgedProcess;
  readonly others: readonly JudgedProcess[];
}

/** Of duplicate servers the parent talks to the newest; of builds the oldest is furthest along and holds the lock. */
export type Keep = 'newest' | 'oldest';

const SERVERS: ReadonlySet<string> = new Set(['mcp', 'lean-lsp']);

const oldestFirst = (a: JudgedProcess, b: JudgedProcess): number =>
  (a.facts.born ?? 0) - (b.facts.born ?? 0) || a.facts.pid - b.facts.pid;

const cwdOf = (p: JudgedProcess): string | null => p.facts.details?.cwd ?? null;

const grouped = (groups: ReadonlyMap<string, readonly JudgedProcess[]>, of: (key: string) => string) =>
  [...groups].map(([key, members]): Siblings => ({ of: of(key), members: [...members].sort(oldestFirst) }));

/** A server with words and a place of its own. Workers that a server forked have its words, and there are several on purpose. */
export const isServerProcess = (p: JudgedProcess, forest: Forest<JudgedProcess>): boolean => {
  if (!SERVERS.has(p.kind) || isZombie(p.facts) || cwdOf(p) === null) return false;
  if (p.facts.argv === null || p.facts.argv.length === 0) return false;
  return !forest.ancestorsOf(p).some(up => sameArgv(up.facts.argv, p.facts.argv));
};

/** What makes two servers the same: the command and the directory. */
export const commandWords = (p: JudgedProcess): string => JSON.stringify([p.facts.argv, cwdOf(p)]);

/**
 * The agent a server works for, seen through the wrappers and shells in between; null: none is known. Below
 * anything else, and below what serves several sessions or subagents, equal servers belong to different ones.
 */
const worksFor = (p: JudgedProcess, forest: Forest<JudgedProcess>): JudgedProcess | null => {
  const employer = forest.ancestorsOf(p).find(up => up.kind !== 'wrapper' && up.kind !== 'shell');
  return employer?.kind !== 'agent' || !employer.servesOne || servesSeveral(employer.seen) ? null : employer;
};

/** The same server twice for one process: one of them is unused. */
export const duplicateServers = (
  processes: readonly JudgedProcess[],
  forest: Forest<JudgedProcess>,
): readonly Siblings[] => {
  const groups = new Map<string, JudgedProcess[]>();
  const employers = new Map<string, JudgedProcess>();
  for (const p of processes) {
    const employer = isServerProcess(p, forest) ? worksFor(p, forest) : null;
    if (employer === null) continue;
    const key = `${employer.facts.pid} ${commandWords(p)}`;
    pushTo(groups, key, p);
    employers.set(key, employer);
  }
  return grouped(groups, key => label(employers.get(key)!)).filter(({ members }) => members.length > 1);
};

/** A server and the wrappers that carry nothing else: what is ended when it goes. */
export const withWrappers = (p: JudgedProcess, forest: Forest<JudgedProcess>): JudgedProcess => {
  let top = p;
  for (const up of forest.ancestorsOf(p)) {
    const carried = forest.childrenOf(up).filter(child => !isZombie(child.facts));
    if (up.kind !== 'wrapper' || carried.length > 1) break;
    top = up;
  }
  return top;
};

/** Real `lake build` processes only: a shell, `timeout` or `tee` whose words contain the text is none. */
const isBuild = (p: JudgedProcess): boolean => p.seen.role === 'lake-build' && !isZombie(p.facts);

/** `lake` re-executes itself as `lake.orig` and the like: one build, counted at its top. */
const isTopOfBuild = (p: JudgedProcess, forest: Forest<JudgedProcess>): boolean =>
  isBuild(p) && !forest.ancestorsOf(p).some(up => isBuild(up) && cwdOf(up) === cwdOf(p));

/** Every build that runs, each once. */
const buildsAmong = (
  processes: readonly JudgedProcess[],
  forest: Forest<JudgedProcess>,
): readonly JudgedProcess[] => processes.filter(p => isTopOfBuild(p, forest));

/** The builds of each project, by its directory. */
export const buildsByProject = (
  processes: readonly JudgedProcess[],
  forest: Forest<JudgedProcess>,
): readonly Siblings[] => {
  const projects = new Map<string, JudgedProcess[]>();
  for (const build of buildsAmong(processes, forest)) {
    const project = cwdOf(build);
    if (project !== null) pushTo(projects, project, build);
  }
  return grouped(projects, project => project);
};

export const chooseOne = ({ members }: Siblings, keep: Keep): Choice | null => {
  const births = members.map(p => p.facts.born ?? Number.NaN);
  const best = keep === 'newest' ? Math.max(...births) : Math.min(...births);
  const [kept, ...tied] = members.filter(p => p.facts.born === best);
  // NaN when an age is unknown; a tie is as bad: the one in use could be the one we end.
  if (kept === undefined || tied.length > 0) return null;
  return { kept, others: members.filter(p => p !== kept) };
};
