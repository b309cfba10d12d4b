import { basename } from 'node:path';
import { type Descendant, type HookAnswer, NO_ANSWER } from '../model/hook.ts';
import type { Identity } from '../model/identity.ts';
import { argvAt } from '../observe/command-lines.ts';
import { bootId, uptime } from '../observe/one-process.ts';
import { asSessionName, type LineageLine, writeSessionLineage } from '../remember/lineage-files.ts';
import { type HookContext, taskOf } from './context.ts';
import { beatTask, belowAtTheEnd, releaseLocks } from './session-heartbeat.ts';
import { forgetSession, readSession } from './session-state.ts';
import { isSharedTask } from './stop.ts';

/** The daemon that all Codex sessions share: what is below it is not of one of them. */
const isSharedDaemon = ({ pid }: Identity): boolean => {
  const argv = argvAt(pid);
  return argv === null || (argv.includes('app-server') && argv.includes('--listen'));
};

/** Written down while the agent still lives: what survives it is then known to be its own. */
const recordLineage = (
  { directory, input, log }: HookContext,
  agent: Identity | null,
  below: readonly Descendant[],
): void => {
  const [boot, clock] = [bootId(), uptime()];
  if (directory === null || agent === null || boot === null || clock === null) return;
  if (input.caller === 'codex' && isSharedDaemon(agent)) return;
  const lines = below.map(
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
  if (warning !== null || input.event === 'SessionEnd')
    log(warning ?? `recorded ${lines.length} processes of ${agent.pid}`);
};

/** A session of Codex may end without a word, or be killed: what is below it is written down as it comes. */
export const recordAsItGoes = (context: HookContext): void => {
  const { directory, input } = context;
  const session = directory === null ? null : readSession(directory, input.sessionId);
  if (session !== null && session.below.length > 0) recordLineage(context, session.agent, session.below);
};

/** SessionEnd: the lineage first, for there is little time. */
export const sessionEnd = (context: HookContext): HookAnswer => {
  const { directory, input } = context;
  const session = directory === null ? null : readSession(directory, input.sessionId);
  // A hook that starts late finds no parent any more.
  const agent = context.agent ?? session?.agent ?? null;
  recordLineage(context, agent, agent === null ? [] : belowAtTheEnd(session?.below ?? [], agent));
  if (directory === null || session === null) return NO_ANSWER;
  releaseLocks(context, session.locks);
  const task = taskOf(session);
  if (task !== null && !isSharedTask(context, task.directory)) beatTask(context, task, { status: 'ended' });
  forgetSession(directory, input.sessionId);
  return NO_ANSWER;
};
