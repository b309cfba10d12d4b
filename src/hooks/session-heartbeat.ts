import { forestOf, selfAndAncestors } from '../model/forest.ts';
import {
  type Descendant,
  type HeldLock,
  type HookAnswer,
  type HookEvent,
  type HookSession,
  NO_ANSWER,
} from '../model/hook.ts';
import type { Identity } from '../model/identity.ts';
import { visible } from '../model/text.ts';
import { allKin, childrenAt, isRunning, type Kin, kinAt, memoryAt } from '../observe/one-process.ts';
import { freshSession, type HookContext, type TaskPlace, taskOf, tasksAfter } from './context.ts';
import { tell } from './decide/answers.ts';
import { pressureOn } from './decide/pressure.ts';
import { removeDiagnosticLock } from './diagnostic-lock.ts';
import { releaseBuildLock } from './exclusive-lock.ts';
import { type Beat, writeBeat } from './progress-file.ts';
import { updateSession, withCount } from './session-state.ts';

/** What the session does now, in one word. */
const operationOf = ({ input }: HookContext): string =>
  visible(input.toolName ?? (input.event === 'UserPromptSubmit' ? 'prompt' : input.event)).slice(0, 120);

/** A tool's end comes often, and must cost nothing: what it started is seen at the next of these. */
const LOOKS_BELOW: ReadonlySet<HookEvent> = new Set(['UserPromptSubmit', 'Stop', 'SubagentStop']);

/** Codex marks no process with its pid: only what was seen below it is proven to be its own. */
const looksBelow = ({ input: { event, caller } }: HookContext): boolean =>
  LOOKS_BELOW.has(event) || (caller === 'codex' && event === 'PostToolUse');

/** The session as this event leaves it, whatever else it decides. */
export const beaten = (context: HookContext, before: HookSession): HookSession => ({
  ...before,
  agent: context.agent ?? before.agent,
  byPlugin: before.byPlugin || context.input.caller === 'plugin',
  below: looksBelow(context) ? belowAfter(before.below, context.agent) : before.below,
  cwd: context.input.cwd,
  beatAt: context.now,
  operation: operationOf(context),
  ...tasksAfter(context, before),
});

/** Gives back locks, on disk as well; the caller has taken them off the session. */
export const releaseLocks = ({ directory, input }: HookContext, locks: readonly HeldLock[]): void => {
  for (const { key, toolUseId, beside } of locks) {
    if (beside !== null) removeDiagnosticLock(beside.root, beside.directory);
    if (directory !== null) releaseBuildLock(directory, { key, session: input.sessionId, toolUseId });
  }
};

/** Beats in the task's own file as well, where the seeds' way of working is in use. */
export const beatTask = (context: HookContext, place: TaskPlace | null, beat: Beat): void => {
  if (place === null) return;
  try {
    writeBeat(place.root, place.directory, beat, new Date(context.now), {
      state: context.directory,
      waitMs: context.left(),
    });
  } catch (error) {
    context.log(`no beat in ${place.directory}: ${(error as Error).message}`);
  }
};

/** A prompt ends what the session itself was doing; a tool's end gives back that tool's lock. */
const released = ({ input }: HookContext, { locks }: HookSession): readonly HeldLock[] =>
  locks.filter(lock =>
    input.event === 'UserPromptSubmit' ? lock.agentId === null : lock.toolUseId === input.toolUseId,
  );

/** UserPromptSubmit, PostToolUse and PostToolUseFailure. */
export const beat = (context: HookContext): HookAnswer => {
  const { input, config, directory, agent, now } = context;
  if (directory === null) return NO_ANSWER;
  const who = input.agentId ?? '';
  const counts = input.event !== 'PostToolUseFailure';
  const done = updateSession(
    directory,
    input.sessionId,
    () => freshSession(context),
    before => {
      const turns = (before.turns[who] ?? 0) + (counts ? 1 : 0);
      const pressure = pressureOn({
        now,
        memory: agent === null ? null : memoryAt(agent.pid),
        limitBytes: config.limitBytes,
        turns,
        turnsLimit: config.turns.limit,
        askedAt: before.askedAt,
      });
      const free = released(context, before);
      const after: HookSession = {
        ...beaten(context, before),
        turns: withCount(before.turns, who, turns),
        askedAt: pressure.askedAt,
        locks: before.locks.filter(lock => !free.includes(lock)),
      };
      return { after, result: { after, free, say: pressure.say } };
    },
    { owed: counts ? { what: 'turn', who } : null, waitMs: context.left() },
  );
  if (done === null) {
    context.log('the session’s file could not be locked or written: the next hook counts this turn');
    return NO_ANSWER;
  }
  releaseLocks(context, done.free);
  beatTask(context, taskOf(done.after), { sessionIfNone: input.sessionId, operation: done.after.operation });
  if (done.say === null || !counts) return NO_ANSWER;
  context.log(done.say);
  return tell(input.event, done.say);
};

/** What a session has started, as far as its hooks see it. */

/** Bounded, as everything that a session's file remembers. */
const MOST_BELOW = 128;

/** Everything below the agent in this table but ourselves and who started us; parents before children. */
const descendants = (agent: Identity, kin: ReadonlyMap<number, Kin>): readonly Descendant[] => {
  const top = kin.get(agent.pid);
  if (top?.start !== agent.start) return [];
  const own = selfAndAncestors(kin.get(process.pid), up => (up.ppid === agent.pid ? null : kin.get(up.ppid)));
  const others = [...kin.values()].filter(one => one === top || (!own.has(one) && one.state !== 'Z'));
  return forestOf(others, place => place)
    .subtreeOf(top)
    .filter(one => one !== top)
    .map(({ pid, start, ppid }) => ({ pid, start, parent: { pid: ppid, start: kin.get(ppid)!.start } }));
};

/** The agent and what the kernel names below it, without a look at anybody else. */
const kinBelow = (agent: Identity): ReadonlyMap<number, Kin> => {
  const found = new Map<number, Kin>();
  const pending = [agent.pid];
  for (let pid = pending.shift(); pid !== undefined && found.size <= MOST_BELOW; pid = pending.shift()) {
    const kin = found.has(pid) ? null : kinAt(pid);
    if (kin === null) continue;
    found.set(pid, kin);
    pending.push(...childrenAt(pid));
  }
  return found;
};

const united = (before: readonly Descendant[], now: readonly Descendant[]): readonly Descendant[] => {
  const known = new Set(now.map(({ pid }) => pid));
  return [...before.filter(one => !known.has(one.pid) && isRunning(one) === true), ...now];
};

/**
 * What was seen below the agent and still runs, with what is below it now. When a session ends, Claude ends its servers
 * before it calls the hook: what these leave is PID 1's by then, and only who looked earlier knows whose it was.
 */
export const belowAfter = (before: readonly Descendant[], agent: Identity | null): readonly Descendant[] =>
  agent === null ? before : united(before, descendants(agent, kinBelow(agent))).slice(-MOST_BELOW);

/** The same at the end, with a look at everybody. */
export const belowAtTheEnd = (before: readonly Descendant[], agent: Identity): readonly Descendant[] =>
  united(before, descendants(agent, allKin()));
