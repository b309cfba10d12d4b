import { releaseBuildLock } from '../../act/hooks/build-lock.ts';
import { removeDiagnosticLock } from '../../act/hooks/diagnostic-lock.ts';
import { type Beat, writeBeat } from '../../act/hooks/progress-file.ts';
import { updateSession, withCount } from '../../act/hooks/session-state.ts';
import { tell } from '../../judge/hooks/answers.ts';
import { pressureOn } from '../../judge/hooks/pressure.ts';
import {
  type HeldLock,
  type HookAnswer,
  type HookEvent,
  type HookSession,
  NO_ANSWER,
} from '../../model/hook.ts';
import { visible } from '../../model/text.ts';
import { memoryAt } from '../../observe/procfs/kin.ts';
import { belowAfter } from './below.ts';
import { freshSession, type HookContext, type TaskPlace, taskOf, tasksAfter } from './context.ts';

/** What the session does now, in one word. */
const operationOf = ({ input }: HookContext): string =>
  visible(input.toolName ?? (input.event === 'UserPromptSubmit' ? 'prompt' : input.event)).slice(0, 120);

/** A tool's end comes often, and must cost nothing: what it started is seen at the next of these. */
const LOOKS_BELOW: ReadonlySet<HookEvent> = new Set(['UserPromptSubmit', 'Stop', 'SubagentStop']);

/** The session as this event leaves it, whatever else it decides. */
export const beaten = (context: HookContext, before: HookSession): HookSession => ({
  ...before,
  agent: context.agent ?? before.agent,
  below: LOOKS_BELOW.has(context.input.event) ? belowAfter(before.below, context.agent) : before.below,
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
