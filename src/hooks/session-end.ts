import { basename } from 'node:path';
import { type HookAnswer, type HookSession, NO_ANSWER } from '../model/hook.ts';
import { bootId, uptime } from '../observe/one-process.ts';
import { asSessionName, type LineageLine, writeSessionLineage } from '../remember/lineage-files.ts';
import { type HookContext, taskOf } from './context.ts';
import { beatTask, belowAtTheEnd, releaseLocks } from './session-heartbeat.ts';
import { forgetSession, readSession } from './session-state.ts';
import { isSharedTask } from './stop.ts';

/** Written down while the agent still lives: what survives it is then known to be its own. */
const recordLineage = (
  { directory, input, log, ...context }: HookContext,
  session: HookSession | null,
): void => {
  // A hook that starts late finds no parent any more.
  const agent = context.agent ?? session?.agent ?? null;
  const [boot, clock] = [bootId(), uptime()];
  if (directory === null || agent === null || boot === null || clock === null) return;
  const lines = belowAtTheEnd(session?.below ?? [], agent).map(
    ({ pid, start, parent }): LineageLine => ({
      pid,
      start,
      agent,
      session: asSessionName(input.sessionId),
      family: input.caller === 'codex' ? 'codex' : 'claude',
      project: basename(input.cwd) || null,
      parent,
      boot,
      seen: clock,
      gone: null,
    }),
  );
  const warning = lines.length === 0 ? null : writeSessionLineage(directory, input.sessionId, lines);
  log(warning ?? `recorded ${lines.length} processes of ${agent.pid}`);
};

/** SessionEnd: the lineage first, for there is little time. */
export const sessionEnd = (context: HookContext): HookAnswer => {
  const { directory, input } = context;
  const session = directory === null ? null : readSession(directory, input.sessionId);
  recordLineage(context, session);
  if (directory === null || session === null) return NO_ANSWER;
  releaseLocks(context, session.locks);
  const task = taskOf(session);
  if (task !== null && !isSharedTask(context, task.directory)) beatTask(context, task, { status: 'ended' });
  forgetSession(directory, input.sessionId);
  return NO_ANSWER;
};
