import * as z from 'zod';
import { FINDING_IDS, type Finding, SEVERITIES } from '../../model/finding.ts';
import type { Heartbeat } from '../../model/heartbeat.ts';
import { KINDS } from '../../model/kind.ts';
import type { HostFacts, TmuxServer } from '../../model/observation.ts';
import { USES } from '../../model/process.ts';
import { type JudgedProcess, OWNERSHIP, type Totals, VERDICTS } from '../../model/snapshot.ts';
import { visible } from '../../model/text.ts';

/** What a file on disk says may have been written by anybody: made harmless once more. */
const text = z.string().transform(visible);
const words = z.array(text);
const number = z.number();
const identity = { pid: z.int().nonnegative(), start: text };
const or = <T extends z.ZodType>(type: T) => type.nullable();

const details = z.object({
  cwd: or(text),
  swap: or(number),
  realUid: or(number).exactOptional(),
  cgroup: or(text),
  stdin: z.enum(['pipe', 'abandoned-pipe', 'socket', 'abandoned-socket', 'tty', 'file', 'unknown']),
  lostTerminal: or(z.boolean()),
  // Not in segments that were written before November 2026.
  ignoresHangup: or(z.boolean()).default(null),
  io: or(number).default(null),
  listening: or(z.object({ ports: z.array(number), clients: number })),
  uses: or(z.array(z.object({ how: z.enum(USES), what: text }))).default(null),
});

const facts = z.object({
  ...identity,
  ppid: or(number),
  pgid: or(number),
  sid: or(number),
  uid: or(number),
  tty: or(text),
  state: text,
  kernelThread: z.boolean(),
  unreadable: z.boolean(),
  born: or(number),
  cpuSeconds: or(number),
  cpu: or(number),
  rss: or(number),
  comm: text,
  argv: or(words),
  exe: or(text),
  env: z.null(),
  details: or(details),
});

type Seen = JudgedProcess['seen'];

const seen = z.object({
  kind: z.enum(KINDS),
  agent: or(text),
  family: or(text),
  known: or(text) as z.ZodType<Seen['known']>,
  name: text,
  role: or(text) as z.ZodType<Seen['role']>,
  wraps: or(z.enum(KINDS)),
  transport: or(z.enum(['stdio', 'http'])),
  saysStdio: z.boolean(),
  sessionIds: words,
  forkedFrom: words,
  anchor: or(text) as z.ZodType<Seen['anchor']>,
  adoptsOrphans: z.boolean(),
  mentionsMcp: z.boolean(),
});

/** Its age is told by its birth. */
export type KeptProcess = Omit<JudgedProcess, 'ageSeconds'>;

export const processSchema: z.ZodType<KeptProcess> = z.object({
  facts,
  seen,
  kind: z.enum(KINDS),
  agent: or(text),
  isSession: z.boolean(),
  job: or(text).optional(),
  name: text,
  command: text,
  depth: z.int().nonnegative(),
  owner: or(
    z.object({
      pid: or(number),
      start: or(text),
      sessionId: or(text),
      how: z.enum(OWNERSHIP),
      alive: z.boolean(),
    }),
  ),
  session: or(
    z.object({
      id: or(text),
      project: or(text),
      name: or(text),
      doing: or(z.enum(['busy', 'idle', 'waiting'])),
      waitingFor: or(text),
      seconds: or(number),
    }),
  ),
  tmux: or(z.object({ socket: text, session: text, pane: text })),
  verdict: z.enum(VERDICTS),
  why: words,
  protection: or(z.enum(['hard', 'soft'])),
  protectedBecause: or(text),
  zombies: number,
  related: z.boolean(),
});

export const findingSchema: z.ZodType<Finding> = z.object({
  id: z.enum(FINDING_IDS),
  severity: z.enum(SEVERITIES),
  title: text,
  why: text,
  processes: z.array(z.object(identity)),
  files: words,
  remedy: text,
  action: or(text) as z.ZodType<Finding['action']>,
});

export const heartbeatSchema: z.ZodType<Heartbeat> = z.object({
  path: text,
  format: text,
  state: z.enum(['fine', 'warn', 'critical', 'unreadable', 'leftover']),
  reason: or(text),
  ageSeconds: or(number),
  sessionId: or(text),
  task: or(text),
  phase: or(text),
  operation: or(text),
  proof: or(text),
  // Recordings of older versions have none.
  status: or(text).default(null),
  counters: z.record(text, number),
  agent: or(z.object(identity)),
});

export const hostSchema: z.ZodType<HostFacts> = z.object({
  name: text,
  platform: text,
  backend: z.enum(['procfs', 'portable', 'recorded', 'demo']),
  container: z.boolean(),
  bootId: or(text),
  memTotal: or(number),
  memAvailable: or(number),
  swapUsed: or(number),
});

export const totalsSchema: z.ZodType<Totals> = z.object({
  processes: number,
  agents: number,
  related: number,
  rss: number,
  swap: number,
  reclaimable: number,
  leaks: number,
  suspects: number,
  zombies: number,
});

const pane = z.object({
  socket: text,
  sessionId: text,
  session: text,
  windowId: text,
  window: number,
  pane: text,
  pid: number,
  tty: or(text),
  dead: z.boolean(),
  title: text,
  activity: or(number),
  attached: z.boolean(),
});

export const tmuxSchema: z.ZodType<readonly TmuxServer[]> = z.array(
  z.object({ socket: text, pid: or(number), reachable: z.boolean(), panes: z.array(pane) }),
);

export const wordsSchema: z.ZodType<readonly string[]> = words;
