import { userInfo } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { Config, FileThresholds, GuardPolicy, HeartbeatSource, Thresholds } from '../model/config.ts';
import { DEFAULT_CONFIG } from '../model/config-defaults.ts';
import { visible } from '../model/text.ts';
import { READ_LIMIT, readHead, readInside } from '../observe/files/read-bounded.ts';
import type { ParsedConfig, RootConfig, UserConfig } from './config-schema.ts';
import { plainConfig } from './plain-config.ts';

/** A file or setting the user must mend: one sentence that names it; exit 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** By its name: each chunk of the bundle has a class of its own, and `instanceof` knows only one of them. */
export const isUsageError = (error: unknown): boolean =>
  error instanceof Error && error.name === 'UsageError';

/** HOME may be unset in services and cron jobs; the password database then still knows it. */
export const homeDirectory = (env: NodeJS.ProcessEnv): string | null => {
  // Below a relative one a repository's own files would count as the user's.
  if (env.HOME !== undefined && isAbsolute(env.HOME)) return env.HOME;
  try {
    // `homedir` would hand back an empty HOME.
    const { homedir } = userInfo();
    return isAbsolute(homedir) ? homedir : null;
  } catch {
    return null; // a uid without an entry: every file below HOME is then simply absent
  }
};

/** Where the user's config is looked for; null when there is no home. */
export const userConfigPath = (env: NodeJS.ProcessEnv): string | null => {
  const home = homeDirectory(env);
  const named = env.XDG_CONFIG_HOME;
  const base =
    named !== undefined && isAbsolute(named) ? named : home === null ? null : join(home, '.config');
  return base === null ? null : join(base, 'reaptop', 'config.json');
};

/** Written by hand: no one writes this much. */
const CONFIG_LIMIT = 1024 ** 2;

const readIfPresent = (path: string): string | null => {
  const read = readHead(path, CONFIG_LIMIT);
  if (!read.ok) {
    if (read.gone) return null;
    throw new UsageError(`${visible(path)} cannot be read (${read.code ?? read.why}).`);
  }
  if (read.cut) throw new UsageError(`${visible(path)} is longer than ${CONFIG_LIMIT / 1024 ** 2} MiB.`);
  return read.text;
};

type PartialThresholds = { readonly [K in keyof Thresholds]?: Partial<Thresholds[K]> | undefined };

const mergeThresholds = (base: Thresholds, over: PartialThresholds | undefined): Thresholds => {
  const merged: Record<string, unknown> = { ...base };
  for (const [id, values] of Object.entries(over ?? {})) {
    merged[id] = { ...base[id as keyof Thresholds], ...values };
  }
  // A limit of one tool does not take those of the others away.
  const tools = { ...base['call-hung'].tools, ...over?.['call-hung']?.tools };
  merged['call-hung'] = { ...(merged['call-hung'] as Thresholds['call-hung']), tools };
  return merged as unknown as Thresholds;
};

const defined = (values: UserConfig['policy']): Partial<GuardPolicy> =>
  Object.fromEntries(Object.entries(values ?? {}).filter(([, value]) => value !== undefined));

const withUserConfig = (base: Config, user: UserConfig): Config => ({
  ...base,
  thresholds: mergeThresholds(base.thresholds, user.thresholds as PartialThresholds | undefined),
  recognisers: [...(user.recognisers ?? []), ...base.recognisers],
  protect: [...base.protect, ...(user.protect ?? [])],
  heartbeats: [...base.heartbeats, ...(user.heartbeats ?? [])],
  hooks: {
    prebuild: user.hooks?.prebuild ?? base.hooks.prebuild,
    throttle: user.hooks?.throttle ?? base.hooks.throttle,
    turns: { limit: user.hooks?.turns?.limit ?? base.hooks.turns.limit },
    buildTools: user.hooks?.buildTools ?? base.hooks.buildTools,
    broadKills: user.hooks?.broadKills ?? base.hooks.broadKills,
  },
  policy: { ...base.policy, ...defined(user.policy) },
  alerts: {
    bell: user.alerts?.bell ?? base.alerts.bell,
    tmux: user.alerts?.tmux ?? base.alerts.tmux,
    command: user.alerts?.command ?? base.alerts.command,
  },
  theme: user.theme ?? base.theme,
  columns: user.columns ?? base.columns,
  mouse: user.mouse ?? base.mouse,
  level: user.level ?? base.level,
  interval: user.interval ?? base.interval,
});

/** The user's config, or the one named by `--config`. zod is loaded only when there is more in it than settings of the screen. */
export const loadConfig = async (env: NodeJS.ProcessEnv, named?: string): Promise<Config> => {
  const path = named ?? userConfigPath(env);
  const text = path === null ? null : readIfPresent(path);
  if (text === null) {
    if (named !== undefined) throw new UsageError(`--config ${visible(named)}: no such file.`);
    return DEFAULT_CONFIG;
  }
  const plain = plainConfig(text);
  if (plain !== null) return withUserConfig(DEFAULT_CONFIG, plain as UserConfig);
  const { parseUserConfig } = await import('./config-schema.ts');
  const parsed = parseUserConfig(text);
  if (!parsed.ok) throw new UsageError(`${visible(path ?? '')}: ${parsed.message}`);
  return withUserConfig(DEFAULT_CONFIG, parsed.value);
};

export interface RootSettings {
  /** Protections and heartbeat sources of every root, added to the user's. */
  readonly protect: readonly string[];
  readonly heartbeats: readonly HeartbeatSource[];
  readonly thresholds: ReadonlyMap<string, FileThresholds>;
  readonly warnings: readonly string[];
}

/** Each is tried on every word of every process, or on every name in a directory: more come from no honest project. */
const MOST_PROTECTED = 256;
const MOST_SOURCES = 64;

/**
 * `.reaptop.json` of each root. It comes with cloned repositories: it may add protections and heartbeat
 * sources and tune file findings there. Anything else, or an invalid file, is ignored with one warning.
 */
export const loadRootSettings = async (roots: readonly string[]): Promise<RootSettings> => {
  const thresholds = new Map<string, FileThresholds>();
  const heartbeats: HeartbeatSource[] = [];
  const protect: string[] = [];
  const warnings: string[] = [];
  for (const root of roots) {
    const path = join(root, '.reaptop.json');
    const parsed = await readRootFile(path, root);
    if (parsed === null) continue;
    if (!parsed.ok) {
      warnings.push(
        `${visible(path)} is ignored: ${parsed.message} (a project may only add protect and heartbeats, and tune file findings).`,
      );
      continue;
    }
    protect.push(...(parsed.value.protect ?? []));
    heartbeats.push(...(parsed.value.heartbeats ?? []));
    if (parsed.value.thresholds !== undefined)
      thresholds.set(resolve(root), parsed.value.thresholds as FileThresholds);
  }
  if (protect.length > MOST_PROTECTED || heartbeats.length > MOST_SOURCES)
    warnings.push(
      `.reaptop.json: only the first ${MOST_PROTECTED} protect patterns and ${MOST_SOURCES} heartbeat sources of projects are used.`,
    );
  return {
    protect: protect.slice(0, MOST_PROTECTED),
    heartbeats: heartbeats.slice(0, MOST_SOURCES),
    thresholds,
    warnings,
  };
};

/** A cloned repository may hold anything under this name: a pipe must not hang us, nor a gigabyte fill us. */
const readRootFile = async (path: string, root: string): Promise<ParsedConfig<RootConfig> | null> => {
  const read = readInside(path, root);
  if (!read.ok) return read.gone ? null : { ok: false, message: read.why };
  if (read.cut) return { ok: false, message: `longer than ${READ_LIMIT / 1024} KiB` };
  const { parseRootConfig } = await import('./config-schema.ts');
  return parseRootConfig(read.text);
};
