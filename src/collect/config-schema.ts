import * as z from 'zod';
import { DEFAULT_CONFIG, FILE_FINDINGS } from '../model/config.ts';
import { KINDS } from '../model/kind.ts';
import { COLUMN_IDS, INTERVAL_BOUNDS, THEME_CHOICES } from '../model/look.ts';
import { visible } from '../model/text.ts';

const positive = z.number().positive();
const count = z.number().int().nonnegative();
const text = z.string().min(1).max(4096);

const thresholds = z.strictObject({
  leak: z.strictObject({ criticalBytes: positive }).partial(),
  zombie: z
    .strictObject({
      criticalCount: count,
      quietSeconds: positive,
      minimumAgeSeconds: z.number().nonnegative(),
    })
    .partial(),
  'over-memory': z.strictObject({ limitBytes: positive }).partial(),
  'memory-growth': z.strictObject({ minutes: positive, growthBytes: positive, factor: positive }).partial(),
  'too-many-agents': z.strictObject({ count }).partial(),
  'idle-agent': z.strictObject({ seconds: positive }).partial(),
  'concurrent-builds': z.strictObject({ warnCount: count, criticalCount: count }).partial(),
  'heartbeat-stale': z
    .strictObject({ warnSeconds: positive, criticalSeconds: positive, leftoverSeconds: positive })
    .partial(),
  'heartbeat-missing': z.strictObject({ seconds: positive }).partial(),
  'marker-age': z
    .strictObject({ warnSeconds: positive, criticalSeconds: positive, stillSeconds: positive })
    .partial(),
  'loop-guard': z.strictObject({ count }).partial(),
  'lock-stale': z.strictObject({ seconds: positive }).partial(),
  'stuck-io': z.strictObject({ seconds: positive }).partial(),
  spinning: z.strictObject({ percent: positive, seconds: positive }).partial(),
});

const recogniser = z.strictObject({
  name: text,
  kind: z.enum(KINDS),
  agent: text.optional(),
  program: text,
  args: z.array(text).optional(),
});

const heartbeat = z.strictObject({
  name: text,
  glob: text,
  time: text.optional(),
  timeFormat: z.enum(['iso', 'iso-local', 'epoch-s', 'epoch-ms', 'mtime']).optional(),
  status: text.optional(),
  task: text.optional(),
  operation: text.optional(),
  session: text.optional(),
  pid: text.optional(),
  warnSeconds: positive.optional(),
  criticalSeconds: positive.optional(),
  terminal: z.array(text).optional(),
});

const protect = z.array(text);

/** `clean` waits 300 ms between its two looks: guard never less. */
const LEAST_SIGHTING_SECONDS = 0.3;

const policy = z.strictObject({
  leaks: z.boolean(),
  staleFiles: z.boolean(),
  sweep: z.boolean(),
  zombieServers: z.boolean(),
  overMemory: z.boolean(),
  idleAgents: z.boolean(),
  builds: z.boolean(),
  minimumAgeSeconds: z.number().nonnegative(),
  sightingSeconds: z.number().min(LEAST_SIGHTING_SECONDS),
  terminalSeconds: z.number().nonnegative(),
  warnSeconds: z.number().nonnegative(),
  retentionDays: z.number().nonnegative(),
  endsPerHour: count,
});

const hooks = z.strictObject({
  prebuild: z.boolean(),
  throttle: z.boolean(),
  turns: z.strictObject({ limit: z.number().int().positive().nullable() }).partial(),
  buildTools: z.array(text).max(64),
});

const alerts = z.strictObject({
  bell: z.boolean(),
  tmux: z.boolean(),
  command: z.array(text).min(1).max(256).nullable(),
});

/** The user's own file: anything may be set. */
const userSchema = z
  .strictObject({
    thresholds: thresholds.partial(),
    recognisers: z.array(recogniser),
    protect,
    heartbeats: z.array(heartbeat),
    hooks: hooks.partial(),
    policy: policy.partial(),
    alerts: alerts.partial(),
    theme: z.enum(THEME_CHOICES),
    columns: z.array(z.enum(COLUMN_IDS)).nullable(),
    mouse: z.boolean(),
    interval: z.number().min(INTERVAL_BOUNDS[0]).max(INTERVAL_BOUNDS[1]),
  })
  .partial();

const rootSchema = z
  .strictObject({
    thresholds: thresholds
      .pick(
        Object.fromEntries(FILE_FINDINGS.map(id => [id, true])) as Record<
          (typeof FILE_FINDINGS)[number],
          true
        >,
      )
      .partial(),
    protect,
    heartbeats: z.array(heartbeat),
  })
  .partial();

export type UserConfig = z.infer<typeof userSchema>;
export type RootConfig = z.infer<typeof rootSchema>;

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly message: string };

type Allowed = (path: readonly PropertyKey[]) => readonly string[];

/** `thresholds.over-memory.limitBytes: expected number, received string`. Keys are as untrusted as the file. */
const complaint = (error: z.ZodError, allowedAt: Allowed): string => {
  const issue = error.issues[0];
  if (issue === undefined) return 'is not valid';
  if (issue.code === 'unrecognized_keys') {
    const path = visible([...issue.path, issue.keys[0] ?? ''].join('.'));
    return `${path}: unknown key; allowed here: ${allowedAt(issue.path).join(', ')}`;
  }
  const path = visible(issue.path.join('.'));
  if (issue.code === 'invalid_value')
    return `${path}: unknown; it must be one of ${issue.values.map(String).join(', ')}`;
  const message = visible(issue.message.replace(/^Invalid input: /, ''));
  return `${path === '' ? 'the whole file' : path}: ${message}`;
};

const allowedIn =
  (top: readonly string[], findings: readonly string[]): Allowed =>
  ([first, second]) => {
    if (first === 'recognisers') return Object.keys(recogniser.shape);
    if (first === 'heartbeats') return Object.keys(heartbeat.shape);
    if (first === 'policy') return Object.keys(policy.shape);
    if (first === 'alerts') return Object.keys(alerts.shape);
    if (first === 'hooks') return second === 'turns' ? ['limit'] : Object.keys(hooks.shape);
    if (first !== 'thresholds') return top;
    if (second === undefined) return findings;
    return Object.keys(DEFAULT_CONFIG.thresholds[second as keyof typeof DEFAULT_CONFIG.thresholds] ?? {});
  };

/** Where, and never what: the file may be one that was put there to be quoted. */
const whereIn = (json: string, message: string): string => {
  const at = /position (\d+)/.exec(message)?.[1];
  if (json.trim() === '') return ': it is empty';
  if (at === undefined) return '';
  const before = json.slice(0, Number(at)).split('\n');
  return `: line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1} cannot be read`;
};

const parseWith =
  <T>(schema: z.ZodType<T>, allowedAt: Allowed) =>
  (json: string): Parsed<T> => {
    let value: unknown;
    try {
      value = JSON.parse(json);
    } catch (error) {
      return { ok: false, message: `is no JSON${whereIn(json, (error as Error).message)}` };
    }
    const result = schema.safeParse(value);
    return result.success
      ? { ok: true, value: result.data }
      : { ok: false, message: complaint(result.error, allowedAt) };
  };

export const parseUserConfig = parseWith<UserConfig>(
  userSchema,
  allowedIn(Object.keys(userSchema.shape), Object.keys(DEFAULT_CONFIG.thresholds)),
);
export const parseRootConfig = parseWith<RootConfig>(
  rootSchema,
  allowedIn(Object.keys(rootSchema.shape), FILE_FINDINGS),
);
