import type * as z from 'zod';
import { DEFAULT_CONFIG, FILE_FINDINGS } from '../model/config.ts';
import { visible } from '../model/text.ts';
import { alerts, heartbeat, hooks, policy, recogniser, rootSchema, userSchema } from './config-shape.ts';

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
