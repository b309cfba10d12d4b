import { pushTo } from '../../model/forest.ts';
import type { ReadingFormat, ReadingMember } from '../../model/heartbeat.ts';
import type { TmuxPane, TmuxServer } from '../../model/observation.ts';
import { orchestratedTaskDirectory } from '../../model/path.ts';
import type { JudgedProcess } from '../../model/snapshot.ts';
import type { JoinedReading } from './join.ts';

/** One agent of an orchestrator: what its files, its registry entry and its tmux session say of it. */
export interface OrchestratedAgent {
  readonly id: string;
  /** `…/TASK-20251029-225000-abcdef12`. */
  readonly taskDirectory: string;
  readonly files: readonly JoinedReading[];
  readonly member: ReadingMember | null;
  readonly registry: JoinedReading | null;
  /** How we know that its work is over; null: it is not, as far as anyone says. */
  readonly finished: string | null;
  readonly sessionName: string;
  readonly panes: readonly TmuxPane[];
  readonly processes: readonly JudgedProcess[];
  /** A tmux server did not answer: that no session was found then means nothing. */
  readonly sessionUnknown: boolean;
  /** Seconds since any of its files changed; null when it has none. */
  readonly quietSeconds: number | null;
}

const ofFormat = (files: readonly JoinedReading[], format: ReadingFormat): JoinedReading | undefined =>
  files.find(file => file.reading.format === format);

/** In the order the orchestrator itself trusts them: the stream log, the agent's own word, the registry. */
const finishedBecause = (files: readonly JoinedReading[], member: ReadingMember | null): string | null => {
  const stream = ofFormat(files, 'stream-log')?.reading;
  if (stream?.terminal === true) return `its stream log ends with a result (${stream.status})`;
  const progress = ofFormat(files, 'progress-log')?.reading;
  if (progress?.terminal === true) return `its progress file says ${progress.status ?? 'done'}`;
  return member?.terminal === true ? `the registry says ${member.status ?? 'finished'}` : null;
};

/** Prompts and deploy logs are written once; what grows while an agent works is what counts. */
const quietFor = (files: readonly JoinedReading[]): number | null => {
  const ages = files.map(file => file.ageSeconds).filter(age => age !== null);
  return ages.length === 0 ? null : Math.min(...ages);
};

/** Finds what runs for an agent: its panes by session name, its processes in the order of the table. */
const indexRunning = (processes: readonly JudgedProcess[], tmux: readonly TmuxServer[]) => {
  const panes = new Map<string, TmuxPane[]>();
  for (const server of tmux)
    for (const pane of server.panes) if (!pane.dead) pushTo(panes, pane.session, pane);
  const order = new Map(processes.map((p, at) => [p, at]));
  const byPid = new Map(processes.map(p => [p.facts.pid, p]));
  const bySession = new Map<string, JudgedProcess[]>();
  for (const p of processes) if (p.tmux !== null) pushTo(bySession, p.tmux.session, p);
  return {
    panesOf: (session: string): readonly TmuxPane[] => panes.get(session) ?? [],
    processesOf: (
      session: string,
      files: readonly JoinedReading[],
      pid: number | null,
    ): readonly JudgedProcess[] => {
      const found = new Set(bySession.get(session));
      for (const { agent } of files) if (agent !== null) found.add(agent);
      const named = pid === null ? undefined : byPid.get(pid);
      if (named !== undefined) found.add(named);
      return [...found].sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0));
    },
  };
};

/** Every orchestrated agent that a file or a registry speaks of. */
export const orchestratedAgents = (
  joined: readonly JoinedReading[],
  processes: readonly JudgedProcess[],
  tmux: readonly TmuxServer[],
): OrchestratedAgent[] => {
  const sessionUnknown = tmux.some(server => !server.reachable);
  const tasks = new Map<string, { registry: JoinedReading | null; files: Map<string, JoinedReading[]> }>();
  for (const file of joined) {
    const directory = orchestratedTaskDirectory(file.reading.path);
    if (directory === null) continue;
    const task = tasks.get(directory) ?? { registry: null, files: new Map<string, JoinedReading[]>() };
    tasks.set(directory, task);
    if (file.reading.format === 'registry') task.registry = file;
    const id = file.reading.agentId;
    if (id !== null) pushTo(task.files, id, file);
  }
  if (tasks.size === 0) return [];
  const running = indexRunning(processes, tmux);
  return [...tasks].flatMap(([taskDirectory, { registry, files }]) => {
    const members = new Map((registry?.reading.members ?? []).map(member => [member.id, member]));
    return [...new Set([...files.keys(), ...members.keys()])].map(id => {
      const own = files.get(id) ?? [];
      const member = members.get(id) ?? null;
      const sessionName = member?.tmuxSession ?? `agent_${id}`;
      return {
        id,
        taskDirectory,
        files: own,
        member,
        registry,
        finished: finishedBecause(own, member),
        sessionName,
        panes: running.panesOf(sessionName),
        processes: running.processesOf(sessionName, own, member?.pid ?? null),
        sessionUnknown,
        quietSeconds: quietFor(own),
      };
    });
  });
};
