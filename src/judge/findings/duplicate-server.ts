import type { Finding } from '../../model/finding.ts';
import { pushTo } from '../../model/forest.ts';
import { identityOf, type JudgedProcess } from '../../model/snapshot.ts';
import { plural } from '../../model/units.ts';
import { chooseOne, commandWords, duplicateServers, isServerProcess, type Siblings } from '../duplicates.ts';
import type { Detector, FindingContext } from './detector.ts';

const twiceForOne = (siblings: Siblings): Finding => {
  const { members, of } = siblings;
  const newest = chooseOne(siblings, 'newest')?.kept.facts.pid ?? null;
  return {
    id: 'duplicate-server',
    severity: 'warn',
    title: `${members[0]!.name} runs ${members.length} times under ${of}`,
    why: `the same command in the same directory for the same process${newest === null ? '' : `; ${newest} is the newest and the one in use`}`,
    processes: members.map(identityOf),
    files: [],
    remedy:
      newest === null
        ? 'check, then end all but one; which is the newest is not known'
        : `check, then end all but ${newest}`,
    action: 'end',
  };
};

const onceForEach = (members: readonly JudgedProcess[]): Finding => ({
  id: 'duplicate-server',
  severity: 'info',
  title: `${members[0]!.name} serves one project for ${plural(new Set(members.map(p => p.owner?.pid)).size, 'agent')}`,
  why: `each live agent runs its own copy in ${members[0]!.facts.details?.cwd}`,
  processes: members.map(identityOf),
  files: [],
  remedy: 'none needed: each agent uses its own',
  action: null,
});

/** The same server in one project for several live sessions; a shared daemon is none of them. */
const acrossAgents = ({ processes, files }: FindingContext): readonly (readonly JudgedProcess[])[] => {
  const groups = new Map<string, JudgedProcess[]>();
  const sessions = new Set(processes.filter(p => p.isSession).map(p => p.facts.pid));
  for (const p of processes)
    if (isServerProcess(p, files.forest) && p.verdict === 'live' && sessions.has(p.owner?.pid ?? -1))
      pushTo(groups, commandWords(p), p);
  return [...groups.values()].filter(group => new Set(group.map(p => p.owner?.pid)).size > 1);
};

/** The same server twice for one process (one of them is unused), or for two agents in one project (only worth knowing). */
export const duplicateServer: Detector = context => [
  ...duplicateServers(context.processes, context.files.forest).map(twiceForOne),
  ...acrossAgents(context).map(onceForEach),
];
