import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { inDirectory } from '../act/held-directory.ts';
import { type HookAnswer, type HookSession, NO_ANSWER } from '../model/hook.ts';
import type { JsonObject } from '../model/json.ts';
import { parseTime } from '../model/time.ts';
import { readClaudeSessions } from '../observe/files/claude-sessions.ts';
import {
  ownFileAt,
  printOf,
  projectOfDirectory,
  specsRoot,
  taskDirectories,
} from '../observe/files/project.ts';
import { readHead } from '../observe/files/read-bounded.ts';
import { identityAt, isRunning } from '../observe/one-process.ts';
import {
  claudeDirectory,
  freshSession,
  GUARD,
  type HookContext,
  MARKER,
  placeOf,
  taskOf,
} from './context.ts';
import { block } from './decide/answers.ts';
import {
  decideStop,
  type FoundMarker,
  type MarkerFacts,
  ownMarker,
  readGuard,
  readMarker,
  type StopDecision,
} from './decide/stop.ts';
import { removeHeld, replaceHeld } from './progress-file.ts';
import { beaten, beatTask, releaseLocks } from './session-heartbeat.ts';
import { readSession, SESSIONS, updateSession, withCount } from './session-state.ts';

interface OnDisk extends FoundMarker {
  readonly ino: number;
}

const markersBelow = (root: string): readonly OnDisk[] =>
  taskDirectories(root).flatMap(directory => {
    const path = join(directory, MARKER);
    const stat = ownFileAt(path);
    return stat === null ? [] : [{ path, directory, madeAt: stat.mtimeMs, ino: stat.ino }];
  });

/** What hooks themselves write is no sign of work. */
const NOT_WORK: ReadonlySet<string> = new Set([MARKER, GUARD, '.agent-progress.json', '.diagnostic-lock']);

interface Read {
  readonly facts: MarkerFacts;
  /** Distinguishes this marker from a later one at the same path. */
  readonly which: string;
  readonly print: string;
}

const readAll = (marker: OnDisk, session: HookSession, now: number): Read => {
  const read = readHead(marker.path, undefined, { noLink: true, ours: true });
  const said = readMarker(read.ok ? read.text : '');
  const guard = readHead(join(marker.directory, GUARD), 64, { noLink: true, ours: true });
  const created = parseTime(said.created);
  const madeAt = created === null || created > now ? marker.madeAt : created;
  const which = said.created ?? String(marker.ino);
  const before = session.blocks[marker.path];
  const known = before?.marker === which ? before : null;
  const print = printOf(marker.directory, NOT_WORK);
  return {
    which,
    print,
    facts: {
      ageSeconds: Math.max(0, now - madeAt) / 1000,
      reason: said.reason,
      wayOut: said.wayOut,
      guard: guard.ok ? readGuard(guard.text) : null,
      blocked: known?.count ?? 0,
      still: known !== null && known.print === print,
    },
  };
};

/** Counts a block where the seeds count; false: it cannot be counted there. */
const writeGuard = (context: HookContext, { directory }: OnDisk, count: number): boolean => {
  try {
    const { root } = placeOf(directory);
    inDirectory(root, directory, held => replaceHeld(held, GUARD, `${count}\n`));
    return true;
  } catch (error) {
    context.log(`the loop guard cannot be written: ${(error as Error).message}`);
    return false;
  }
};

const removeBoth = (context: HookContext, { directory, path }: OnDisk): void => {
  try {
    const { root } = placeOf(directory);
    inDirectory(root, directory, held => {
      removeHeld(held, MARKER);
      removeHeld(held, GUARD);
    });
  } catch (error) {
    context.log(`${path} stays: ${(error as Error).message}`);
  }
};

const decide = (
  context: HookContext,
  session: HookSession,
  marker: OnDisk | null,
  own: boolean,
  standDown: boolean,
): { readonly decision: StopDecision; readonly read: Read | null } => {
  const { input, config, now } = context;
  const read = marker === null ? null : readAll(marker, session, now);
  const facts = {
    standDown,
    own,
    marker: read?.facts ?? null,
    // Claude marks a stop that follows a block.
    inARow: input.stopHookActive ? (session.inARow[input.agentId ?? ''] ?? 0) : 0,
    deadlockSeconds: config.deadlockSeconds,
  };
  const decision = decideStop({ ...facts, countable: true });
  if (decision.what === 'allow' || marker === null || writeGuard(context, marker, decision.guard))
    return { decision, read };
  return { decision: decideStop({ ...facts, countable: false }), read };
};

/** Only markers that are still there are remembered. */
const blocksAfter = (
  before: HookSession['blocks'],
  markers: readonly OnDisk[],
  blocked: { readonly marker: OnDisk; readonly read: Read; readonly count: number } | null,
): HookSession['blocks'] => {
  const there = new Set(markers.map(({ path }) => path));
  const kept = Object.entries(before).filter(([path]) => there.has(path));
  return Object.fromEntries(
    blocked === null
      ? kept
      : [
          ...kept,
          [
            blocked.marker.path,
            { count: blocked.count, marker: blocked.read.which, print: blocked.read.print },
          ],
        ],
  );
};

/** More builds than this in one project, and their zombies are cleared. */
const MANY_BUILDS = 3;

const clearZombiesOfManyBuilds = async (context: HookContext): Promise<void> => {
  const { buildsOf } = await import('./running-builds.ts');
  const builds = buildsOf(projectOfDirectory(context.input.cwd)).length;
  if (builds <= MANY_BUILDS) return;
  context.log(`${builds} builds run in this project: clearing zombies`);
  const { clearZombies } = await import('./session-start.ts');
  await clearZombies(context);
};

/** Stop and SubagentStop: the seeds' postflight, for the marker that is this session's own. */
export const stop = async (context: HookContext): Promise<HookAnswer> => {
  const { input, directory } = context;
  if (directory === null) return NO_ANSWER;
  const root = specsRoot(input.cwd);
  const markers = root === null ? [] : markersBelow(root);
  const standDown = root !== null && markers.length > 0 && hasSeedsHook(context, root);
  let alone: boolean | null = null;
  const isAloneHere = (): boolean => {
    alone ??= root !== null && isAlone(context, root);
    return alone;
  };
  /** One that it has only named is left to a session that works on it. */
  const markerOf = (session: HookSession): ReturnType<typeof ownMarker<OnDisk>> => {
    const found = ownMarker(markers, session, isAloneHere);
    return found === null || found.own || !isSharedTask(context, found.marker.directory) ? found : null;
  };
  const done = updateSession(
    directory,
    input.sessionId,
    () => freshSession(context),
    before => {
      const who = input.agentId ?? '';
      const free = before.locks.filter(lock => input.event === 'Stop' || lock.agentId === input.agentId);
      const found = markerOf(before);
      const own = found?.marker ?? null;
      const { decision, read } = decide(context, before, own, found?.own === true, standDown);
      const blocked = decision.what === 'block' && own !== null && read !== null;
      const inARow = blocked ? (input.stopHookActive ? (before.inARow[who] ?? 0) : 0) + 1 : 0;
      const after: HookSession = {
        ...beaten(context, before),
        operation: blocked ? 'postflight' : 'waiting',
        locks: before.locks.filter(lock => !free.includes(lock)),
        blocks: blocksAfter(
          before.blocks,
          markers,
          blocked ? { marker: own, read, count: decision.guard } : null,
        ),
        inARow: withCount(before.inARow, who, inARow),
      };
      return { after, result: { after, free, decision, own } };
    },
    { waitMs: context.left() },
  );
  // A block that cannot be remembered could be repeated forever.
  if (done === null) return NO_ANSWER;
  const { decision, own, after } = done;
  releaseLocks(context, done.free);
  if (own === null) {
    beatTask(context, taskOf(after), { sessionIfNone: input.sessionId, operation: after.operation });
    return NO_ANSWER;
  }
  await Promise.race([clearZombiesOfManyBuilds(context), context.timeIsUp()]);
  context.log(
    decision.what === 'block' ? `block ${decision.guard}: ${decision.reason}` : `allow: ${decision.why}`,
  );
  if (decision.what === 'block') return block(decision.reason);
  if (decision.remove) removeBoth(context, own);
  return NO_ANSWER;
};

/** Who else is at work where a session stops. */

const listAt = (value: unknown, name: string): readonly unknown[] => {
  const inner = (value as JsonObject | null | undefined)?.[name];
  return Array.isArray(inner) ? inner : [];
};

/** The name of the seeds' hook, in whatever way it is called. */
const SEEDS_HOOK = 'subagent-postflight';

const namesSeedsHook = (text: string): boolean => {
  if (!text.includes(SEEDS_HOOK)) return false;
  let hooks: JsonObject | undefined;
  try {
    hooks = (JSON.parse(text) as JsonObject | null)?.hooks as JsonObject | undefined;
  } catch {
    return true; // with comments, perhaps: better stand down than decide twice
  }
  return ['SubagentStop', 'Stop'].some(event =>
    listAt(hooks, event)
      .flatMap(group => listAt(group, 'hooks'))
      .some(hook => String((hook as JsonObject | null)?.command).includes(SEEDS_HOOK)),
  );
};

/** The seeds' own postflight hook is installed: it and we must not both decide. */
const hasSeedsHook = ({ env }: HookContext, root: string): boolean => {
  const user = claudeDirectory(env);
  const files = [
    join(root, '.claude', 'settings.json'),
    join(root, '.claude', 'settings.local.json'),
    ...(user === null ? [] : [join(user, 'settings.json')]),
  ];
  return files.some(path => {
    const read = readHead(path, 1024 ** 2, { ours: true });
    return read.ok && namesSeedsHook(read.text);
  });
};

const isInside = (cwd: string | null, root: string): boolean =>
  cwd !== null && (cwd === root || cwd.startsWith(`${root}/`) || root.startsWith(`${cwd}/`));

/** Other sessions that our hooks recorded and whose agent may still run. */
const othersWithHooks = ({ directory, input }: HookContext): readonly HookSession[] => {
  if (directory === null) return [];
  let names: string[];
  try {
    names = readdirSync(join(directory, SESSIONS));
  } catch {
    return []; // no session has hooks
  }
  return names
    .filter(name => name.endsWith('.json') && name !== `${input.sessionId}.json`)
    .slice(0, 1000)
    .flatMap(name => readSession(directory, name.slice(0, -'.json'.length)) ?? [])
    .filter(({ agent }) => agent !== null && isRunning(agent) !== false);
};

/** Another session that may still run works on this task. */
export const isSharedTask = (context: HookContext, task: string): boolean =>
  othersWithHooks(context).some(({ works }) => works.includes(task));

/** No other live session is in this project, by Claude's files and ours. */
const isAlone = (context: HookContext, root: string): boolean => {
  const { env, input } = context;
  if (othersWithHooks(context).some(({ cwd }) => isInside(cwd, root))) return false;
  const claude = claudeDirectory(env);
  if (claude === null) return false;
  const { sessions, strange } = readClaudeSessions([claude]);
  // A file that we do not understand may belong to a session.
  if (strange.some(({ pid }) => pid === null || identityAt(pid) !== null)) return false;
  return !sessions.some(
    ({ pid, procStart, sessionId, cwd }) =>
      sessionId !== input.sessionId &&
      isInside(cwd, root) &&
      (procStart === null || isRunning({ pid, start: procStart }) !== false),
  );
};
