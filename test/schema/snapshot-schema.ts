import { z } from 'zod';
import { FINDING_IDS, SEVERITIES } from '../../src/model/finding.ts';
import { KINDS } from '../../src/model/kind.ts';
import { OWNERSHIP, VERDICTS } from '../../src/model/snapshot.ts';

/** Section 10 of the contract. Strict, so that a field nobody documented is noticed. */
const pid = z.number().int().nonnegative();
const identity = z.strictObject({ pid, start: z.string().min(1) });
const bytes = z.number().nonnegative();
const count = z.number().int().nonnegative();
const seconds = z.number().nonnegative();
const time = z.iso.datetime();
const sentence = z.string().min(1);

const host = z.strictObject({
  name: z.string(),
  platform: z.string(),
  backend: z.enum(['procfs', 'darwin', 'portable', 'recorded', 'demo']),
  container: z.boolean(),
  bootId: z.string().nullable(),
  memTotal: bytes.nullable(),
  memAvailable: bytes.nullable(),
  swapUsed: bytes.nullable(),
  memoryPressure: z.enum(['normal', 'warn', 'critical']).nullable().optional(),
});

const totals = z.strictObject({
  processes: count,
  agents: count,
  related: count,
  rss: bytes,
  swap: bytes,
  reclaimable: bytes,
  leaks: count,
  suspects: count,
  zombies: count,
});

const processSchema = z.strictObject({
  pid,
  start: z.string().min(1),
  ppid: pid.nullable(),
  // In another pid namespace a group or session is 0, or -1 when it is gone.
  pgid: z.number().int().nullable(),
  sid: z.number().int().nullable(),
  uid: z.number().int().nonnegative().nullable(),
  tty: z.string().min(1).nullable(),
  state: z.string().length(1),
  startedAt: time.nullable(),
  ageSeconds: seconds.nullable(),
  rss: bytes.nullable(),
  swap: bytes.nullable(),
  cpu: z.number().nonnegative().nullable(),
  kind: z.enum(KINDS),
  agent: z.string().min(1).nullable(),
  name: z.string(),
  command: z.string(),
  cwd: z.string().nullable(),
  depth: count,
  session: z
    .strictObject({
      id: z.string().nullable(),
      project: z.string().nullable(),
      name: z.string().nullable(),
      doing: z.enum(['busy', 'idle', 'waiting']).nullable(),
      waitingFor: z.string().nullable(),
      seconds: z.number().nonnegative().nullable(),
      calls: z.array(
        z.strictObject({
          tool: sentence,
          server: sentence.nullable(),
          startedAt: time.nullable(),
          seconds: seconds.nullable(),
          pid: pid.nullable(),
          subagent: z.boolean(),
          hung: z.boolean(),
        }),
      ),
      model: z.string().nullable(),
      context: z.strictObject({ tokens: count }).nullable(),
    })
    .nullable(),
  owner: z
    .strictObject({
      pid: pid.nullable(),
      start: z.string().min(1).nullable(),
      sessionId: z.string().min(1).nullable(),
      how: z.enum(OWNERSHIP),
      alive: z.boolean(),
      project: z.string().min(1).optional(),
    })
    .nullable(),
  tmux: z.strictObject({ socket: z.string(), session: z.string(), pane: z.string() }).nullable(),
  verdict: z.enum(VERDICTS),
  why: z.array(sentence).min(1),
  protection: z.enum(['hard', 'soft']).nullable(),
  zombies: count,
  ports: z.array(z.number().int().positive()),
});

const finding = z.strictObject({
  id: z.enum(FINDING_IDS),
  severity: z.enum(SEVERITIES),
  title: sentence,
  why: sentence,
  processes: z.array(identity),
  files: z.array(z.string()),
  remedy: sentence,
  action: z.string().nullable(),
});

const heartbeat = z.strictObject({
  path: z.string(),
  format: z.string(),
  state: z.enum(['fine', 'warn', 'critical', 'unreadable', 'leftover']),
  reason: z.string().nullable(),
  ageSeconds: seconds.nullable(),
  sessionId: z.string().nullable(),
  task: z.string().nullable(),
  phase: z.string().nullable(),
  operation: z.string().nullable(),
  proof: z.string().nullable(),
  status: z.string().nullable(),
  counters: z.record(z.string(), z.number()),
  agent: identity.nullable(),
});

export const snapshotSchema = z.strictObject({
  schema: z.literal(1),
  takenAt: time,
  host,
  totals,
  warnings: z.array(sentence),
  processes: z.array(processSchema),
  findings: z.array(finding),
  heartbeats: z.array(heartbeat),
});
