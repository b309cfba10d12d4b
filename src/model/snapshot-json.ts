import { portsOf } from './process.ts';
import type { AgentSession, JudgedProcess, Snapshot } from './snapshot.ts';

/** What the manual (src/manual/json.md) promises. Additive: fields may be added, never renamed or removed. */
const SCHEMA = 1;

const sessionJson = ({
  calls = [],
  model = null,
  context = null,
  unfinished: _,
  ...session
}: AgentSession) => ({
  ...session,
  calls: calls.map(({ tool, server, startedAt, seconds, process, subagent, hung = false }) => ({
    tool,
    server,
    startedAt: startedAt === null ? null : new Date(startedAt).toISOString(),
    seconds: seconds === null ? null : Math.round(seconds * 10) / 10,
    pid: process?.pid ?? null,
    subagent,
    hung,
  })),
  model,
  context,
});

const processJson = (p: JudgedProcess, takenAt: number) => {
  const { facts } = p;
  return {
    pid: facts.pid,
    start: facts.start,
    ppid: facts.ppid,
    pgid: facts.pgid,
    sid: facts.sid,
    uid: facts.uid,
    tty: facts.tty,
    state: facts.state,
    startedAt: p.ageSeconds === null ? null : new Date(takenAt - p.ageSeconds * 1000).toISOString(),
    ageSeconds: p.ageSeconds === null ? null : Math.round(p.ageSeconds * 100) / 100,
    rss: facts.rss,
    swap: facts.details?.swap ?? null,
    cpu: facts.cpu === null ? null : Math.round(facts.cpu * 10) / 10,
    kind: p.kind,
    agent: p.agent,
    name: p.name,
    command: p.command,
    cwd: facts.details?.cwd ?? null,
    depth: p.depth,
    owner: p.owner,
    session: p.session === null ? null : sessionJson(p.session),
    tmux: p.tmux,
    verdict: p.verdict,
    why: p.why,
    protection: p.protection,
    zombies: p.zombies,
    ports: portsOf(facts),
  };
};

export const snapshotJson = (snapshot: Snapshot) => ({
  schema: SCHEMA,
  takenAt: new Date(snapshot.takenAt).toISOString(),
  host: snapshot.host,
  totals: snapshot.totals,
  warnings: snapshot.warnings,
  processes: snapshot.processes.map(p => processJson(p, snapshot.takenAt)),
  findings: snapshot.findings,
  heartbeats: snapshot.heartbeats,
});
