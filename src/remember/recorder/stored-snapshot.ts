import * as z from 'zod';
import { CALL_JOINS, type Call } from '../../model/call.ts';
import { FINDING_IDS, type Finding, SEVERITIES } from '../../model/finding.ts';
import type { Heartbeat } from '../../model/heartbeat.ts';
import { KINDS } from '../../model/kind.ts';
import type { HostFacts, TmuxServer } from '../../model/observation.ts';
import { USES } from '../../model/process.ts';
import { type JudgedProcess, OWNERSHIP, type Snapshot, type Totals, VERDICTS } from '../../model/snapshot.ts';
import { visible } from '../../model/text.ts';
import { plural } from '../../model/units.ts';
import type { Frame, Json, StoredObject } from './lines.ts';

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

const call: z.ZodType<Call> = z.object({
  id: text,
  tool: text,
  server: or(text),
  startedAt: or(number),
  subagent: z.boolean(),
  seconds: or(number),
  process: or(z.object(identity)),
  join: z.enum(CALL_JOINS),
  candidates: number.optional(),
  hung: z.boolean().optional(),
  unsampled: z.literal(true).optional(),
  late: z.object({ severity: z.enum(SEVERITIES), why: text }).optional(),
});

/** Its age follows from its birth. */
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
      project: text.optional(),
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
      // Not in segments that were written before 18 November 2026.
      calls: z.array(call).optional(),
      model: or(text).optional(),
      context: or(z.object({ tokens: number })).optional(),
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
  backend: z.enum(['procfs', 'darwin', 'portable', 'recorded', 'demo']),
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

const isObject = (value: Json | undefined): value is StoredObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Checked once: from moment to moment most objects are the very same ones. */
const checkedBy = <T>(schema: z.ZodType<T>): ((value: Json | undefined) => T | null) => {
  const known = new WeakMap<object, T | false>();
  return value => {
    if (typeof value !== 'object' || value === null) return null;
    let found = known.get(value);
    if (found === undefined) {
      const parsed = schema.safeParse(value);
      found = parsed.success ? parsed.data : false;
      known.set(value, found);
    }
    return found === false ? null : found;
  };
};

const processOf = checkedBy(processSchema);
const findingOf = checkedBy(findingSchema);
const heartbeatOf = checkedBy(heartbeatSchema);
const hostOf = checkedBy(hostSchema);
const totalsOf = checkedBy(totalsSchema);
const tmuxOf = checkedBy(tmuxSchema);
const warningsOf = checkedBy(wordsSchema);

/** The members that can be read, in their order, and how many cannot. */
const membersOf = <T>(
  keyed: Json | undefined,
  read: (value: Json | undefined) => T | null,
): { readonly found: readonly T[]; readonly lost: number } => {
  if (!isObject(keyed) || !Array.isArray(keyed.order) || !isObject(keyed.items))
    return { found: [], lost: 1 };
  const { order, items } = keyed as { order: readonly Json[]; items: StoredObject };
  const all = order.map(key => read(Object.hasOwn(items, String(key)) ? items[String(key)] : undefined));
  const found = all.filter(item => item !== null);
  return { found, lost: all.length - found.length };
};

type Kept = NonNullable<JudgedProcess['session']>;

const sessionAt = (session: Kept, ageOf: (since: number | null) => number | null): Kept => ({
  ...session,
  seconds: ageOf(session.seconds),
  ...(session.calls === undefined
    ? {}
    : { calls: session.calls.map(one => ({ ...one, seconds: ageOf(one.startedAt) })) }),
});

/** The moment as it was judged then; null when what was kept of it is no picture. */
export const snapshotOf = ({ at, clock, picture }: Frame): Snapshot | null => {
  if (!isObject(picture)) return null;
  const host = hostOf(picture.host);
  const totals = totalsOf(picture.totals);
  if (host === null || totals === null) return null;
  const processes = membersOf(picture.processes, processOf);
  const findings = membersOf(picture.findings, findingOf);
  const heartbeats = membersOf(picture.heartbeats, heartbeatOf);
  const lost = processes.lost + findings.lost + heartbeats.lost;
  const ageOf = (since: number | null): number | null =>
    since === null ? null : Math.max(0, at - since) / 1000;
  return {
    takenAt: at,
    clock,
    // Nothing can be signalled from it.
    host: { ...host, backend: 'recorded' },
    self: null,
    totals,
    warnings: [
      ...(warningsOf(picture.warnings) ?? []),
      ...(lost === 0 ? [] : [`${plural(lost, 'part')} of the recording could not be read.`]),
    ],
    processes: processes.found.map(({ session, ...p }) => ({
      ...p,
      ageSeconds: p.facts.born === null ? null : Math.max(0, clock - p.facts.born),
      session: session === null ? null : sessionAt(session, ageOf),
    })),
    findings: findings.found,
    heartbeats: heartbeats.found.map(beat => ({ ...beat, ageSeconds: ageOf(beat.ageSeconds) })),
    tmux: tmuxOf(picture.tmux as Json) ?? [],
  };
};
