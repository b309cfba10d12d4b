import { DEFAULT_CONFIG } from '../model/config.ts';
import type { HookSettings } from '../model/hook.ts';
import { readHead } from '../observe/files/read-bounded.ts';
import { userConfigPath } from './config.ts';

/** What hooks need of the user's config. */
export interface HookConfig extends HookSettings {
  readonly limitBytes: number;
  readonly deadlockSeconds: number;
}

const DEFAULTS: HookConfig = {
  ...DEFAULT_CONFIG.hooks,
  limitBytes: DEFAULT_CONFIG.thresholds['over-memory'].limitBytes,
  deadlockSeconds: DEFAULT_CONFIG.thresholds['marker-age'].criticalSeconds,
};

type Fields = Readonly<Record<string, unknown>>;

const objectAt = (value: unknown, name: string): Fields => {
  const inner = (value as Fields | null)?.[name];
  return typeof inner === 'object' && inner !== null ? (inner as Fields) : {};
};

const positive = (value: unknown, otherwise: number): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : otherwise;

/**
 * The few settings of hooks, picked without the schema: loading that takes longer than a hook may. What is wrong there
 * is said by every other command; here the default stands in.
 */
export const hookConfig = (env: NodeJS.ProcessEnv): HookConfig => {
  const path = userConfigPath(env);
  const read = path === null ? null : readHead(path);
  if (read === null || !read.ok) return DEFAULTS;
  let parsed: unknown;
  try {
    parsed = JSON.parse(read.text);
  } catch {
    return DEFAULTS; // every other command says so, and exits
  }
  const hooks = objectAt(parsed, 'hooks');
  const thresholds = objectAt(parsed, 'thresholds');
  const { limit } = objectAt(hooks, 'turns');
  const tools = hooks.buildTools;
  return {
    prebuild: hooks.prebuild === true,
    throttle: hooks.throttle === true,
    turns: { limit: Number.isInteger(limit) && Number(limit) > 0 ? Number(limit) : DEFAULTS.turns.limit },
    buildTools: Array.isArray(tools) ? tools.filter(tool => typeof tool === 'string') : DEFAULTS.buildTools,
    limitBytes: positive(objectAt(thresholds, 'over-memory').limitBytes, DEFAULTS.limitBytes),
    deadlockSeconds: positive(objectAt(thresholds, 'marker-age').criticalSeconds, DEFAULTS.deadlockSeconds),
  };
};
