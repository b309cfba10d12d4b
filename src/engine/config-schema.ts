import * as z from 'zod';
import { FILE_FINDINGS } from '../model/config.ts';
import { DEFAULT_CONFIG } from '../model/config-defaults.ts';
import { BROAD_KILLS } from '../model/hook.ts';
import { KINDS } from '../model/kind.ts';
import { visible } from '../model/text.ts';
import { COLUMN_IDS, INTERVAL_BOUNDS, THEME_CHOICES } from '../model/ui-settings.ts';

const positive = z.number().positive();
const count = z.number().int().nonnegative();
const text = z.string().min(1).max(4096);

/** What each key means stands beside it: the manual's table is made of these sentences. */
const thresholds = z.strictObject({
  leak: z.strictObject({ criticalBytes: positive.describe('critical from this many bytes on') }).partial(),
  zombie: z
    .strictObject({
      criticalCount: count.describe('critical from this many zombies of one parent on'),
      quietSeconds: positive.describe('seconds a parent must be idle before it is ended'),
      minimumAgeSeconds: z.number().nonnegative().describe('younger zombies end no parent'),
    })
    .partial(),
  'over-memory': z
    .strictObject({ limitBytes: positive.describe('memory of one process, swap included') })
    .partial(),
  'memory-growth': z
    .strictObject({
      minutes: positive.describe('minimum observation window, in minutes'),
      growthBytes: positive.describe('grown by at least this much'),
      factor: positive.describe('and to at least this many times of what it was'),
    })
    .partial(),
  'too-many-agents': z.strictObject({ count: count.describe('more sessions than this at once') }).partial(),
  'idle-agent': z.strictObject({ seconds: positive.describe('seconds without a sign of work') }).partial(),
  'concurrent-builds': z
    .strictObject({
      warnCount: count.describe('more builds of one project than this'),
      criticalCount: count.describe('critical above this'),
    })
    .partial(),
  'heartbeat-stale': z
    .strictObject({
      warnSeconds: positive.describe('seconds without a heartbeat'),
      criticalSeconds: positive.describe('critical after this'),
      leftoverSeconds: positive.describe('after this the file is left over, and its agent is not hung'),
    })
    .partial(),
  'heartbeat-missing': z
    .strictObject({ seconds: positive.describe('seconds an agent works without a heartbeat') })
    .partial(),
  'marker-age': z
    .strictObject({
      warnSeconds: positive.describe('seconds a postflight is pending'),
      criticalSeconds: positive.describe('critical after this'),
      stillSeconds: positive.describe('seconds without any other change before it is critical'),
    })
    .partial(),
  'loop-guard': z
    .strictObject({ count: count.describe('so many blocked stops: the next one is let go') })
    .partial(),
  'lock-stale': z.strictObject({ seconds: positive.describe('a lock older than this') }).partial(),
  'call-hung': z
    .strictObject({
      warnSeconds: positive.describe('seconds a call may take while its MCP server is idle'),
      criticalSeconds: positive.describe('critical after this'),
      tools: z.record(text, positive).describe('limits of single tools by name, in seconds'),
    })
    .partial(),
  'session-hung': z
    .strictObject({
      seconds: positive.describe('seconds busy without a call or a sign of work'),
    })
    .partial(),
  'stuck-io': z
    .strictObject({ seconds: positive.describe('seconds in uninterruptible I/O (state D)') })
    .partial(),
  spinning: z
    .strictObject({
      percent: positive.describe('of one core'),
      seconds: positive.describe('for this many seconds, by a leaked or suspect process'),
    })
    .partial(),
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
  leaks: z.boolean().describe('ends proven leaks'),
  staleFiles: z.boolean().describe('removes stale locks, markers and loop guards of dead agents'),
  sweep: z.boolean().describe('ends the tmux sessions of finished agents and archives their files'),
  zombieServers: z.boolean().describe('nudges, then ends idle servers that do not reap'),
  overMemory: z.boolean().describe('ends agents over the memory limit, warned first'),
  sleepIdle: z
    .boolean()
    .describe('ends sessions idle for `idle-agent.seconds` and keeps the way back, warned first'),
  sleepUnderPressure: z
    .boolean()
    .describe('the same, one at a time, while memory is short: longest idle and largest first'),
  idleAgents: z.boolean().describe('ends agents that are idle for `idle-agent.seconds`, warned first'),
  builds: z.boolean().describe('ends the newer builds beyond `concurrent-builds.criticalCount`'),
  hungCalls: z.boolean().describe('ends the server that a hung call waits for, once for each call'),
  minimumAgeSeconds: z.number().nonnegative().describe('younger leaks are left alone'),
  sightingSeconds: z
    .number()
    .min(LEAST_SIGHTING_SECONDS)
    .describe('a leak is seen twice, at least this far apart'),
  terminalSeconds: z.number().nonnegative().describe('seconds an agent must have been finished'),
  warnSeconds: z.number().nonnegative().describe('from a warning to the end'),
  retentionDays: z.number().nonnegative().describe('days archived files are kept'),
  endsPerHour: count.describe('trees ended in an hour; past it guard only reports'),
});

const hooks = z.strictObject({
  prebuild: z.boolean().describe('builds a Lean project when a session starts in it'),
  throttle: z.boolean().describe('after 3 checks the next 3 are skipped, then one build is asked for'),
  turns: z
    .strictObject({
      limit: z.number().int().positive().nullable().describe('asks a session to end after so many turns'),
    })
    .partial(),
  buildTools: z.array(text).max(64).describe('tools that build, of which only one runs in a project'),
  broadKills: z
    .enum(BROAD_KILLS)
    .describe('commands such as pkill that would hit processes of others (default: ask in the plugin)'),
});

const alerts = z.strictObject({
  bell: z.boolean().describe('rings the bell of the terminal'),
  tmux: z.boolean().describe("a message in tmux's status line"),
  command: z
    .array(text)
    .min(1)
    .max(256)
    .nullable()
    .describe('a program and its arguments, run without a shell'),
});

/** The user's own file: anything may be set. */
export const userSchema = z
  .strictObject({
    thresholds: thresholds.partial(),
    recognisers: z.array(recogniser).describe('programs of yours, matched word by word'),
    protect: protect.describe('names or words of processes that are never ended; `*` is a wildcard'),
    heartbeats: z.array(heartbeat).describe('heartbeat files of yours, and which field means what'),
    hooks: hooks.partial(),
    policy: policy.partial(),
    alerts: alerts.partial(),
    theme: z.enum(THEME_CHOICES).describe('colours; see above'),
    columns: z
      .array(z.enum(COLUMN_IDS))
      .nullable()
      .describe('which, in your order; null: as the width allows'),
    level: z
      .union([z.literal(1), z.literal(2), z.literal(3)])
      .describe('what the tree shows at first: 1 sessions, 2 servers too, 3 every process'),
    mouse: z.boolean().describe('the live screen listens to the mouse'),
    interval: z
      .number()
      .min(INTERVAL_BOUNDS[0])
      .max(INTERVAL_BOUNDS[1])
      .describe('seconds from one look to the next'),
  })
  .partial();

export const rootSchema = z
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

export type ParsedConfig<T> =
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
  (json: string): ParsedConfig<T> => {
    let value: unknown;
    try {
      value = JSON.parse(json);
    } catch (error) {
      return { ok: false, message: `is not valid JSON${whereIn(json, (error as Error).message)}` };
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
