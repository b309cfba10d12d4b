import { forgetSession, readSession } from '../../act/hooks/session-state.ts';
import { childrenByParent, lineUpFrom, withAllBelow } from '../../model/forest.ts';
import { type HookAnswer, type HookSession, NO_ANSWER } from '../../model/hook.ts';
import type { Identity } from '../../model/identity.ts';
import { allKin, bootId, uptime } from '../../observe/procfs/kin.ts';
import { asSessionName, type LineageLine } from '../../remember/lineage-line.ts';
import { writeSessionLineage } from '../../remember/lineage-writer.ts';
import { beatTask, releaseLocks } from './beat.ts';
import { type HookContext, taskOf } from './context.ts';

/** Everything below the agent but ourselves and who started us; parents before children. */
const descendants = (agent: Identity): readonly (Identity & { readonly parent: Identity })[] => {
  const kin = allKin();
  const top = kin.get(agent.pid);
  if (top?.start !== agent.start) return [];
  const own = lineUpFrom(kin.get(process.pid), up => (up.ppid === agent.pid ? null : kin.get(up.ppid)));
  const others = [...kin.values()].filter(one => one === top || (!own.has(one) && one.state !== 'Z'));
  const below = withAllBelow(
    [top],
    childrenByParent(others, place => place),
    ({ pid }) => pid,
  );
  return [...below].filter(one => one !== top).map(one => ({ ...one, parent: kin.get(one.ppid)! }));
};

/** Written down while the agent still lives: what survives it is then known to be its own. */
const recordLineage = (
  { directory, input, log, ...context }: HookContext,
  session: HookSession | null,
): void => {
  // A hook that starts late finds nobody above it any more.
  const agent = context.agent ?? session?.agent ?? null;
  const [boot, clock] = [bootId(), uptime()];
  if (directory === null || agent === null || boot === null || clock === null) return;
  const lines = descendants(agent).map(
    ({ pid, start, parent }): LineageLine => ({
      pid,
      start,
      agent,
      session: asSessionName(input.sessionId),
      family: 'claude',
      parent: { pid: parent.pid, start: parent.start },
      boot,
      seen: clock,
      gone: null,
    }),
  );
  if (lines.length === 0) return;
  const warning = writeSessionLineage(directory, input.sessionId, lines);
  log(warning ?? `recorded ${lines.length} processes below ${agent.pid}`);
};

/** SessionEnd: the lineage first, for there is little time. */
export const sessionEnd = (context: HookContext): HookAnswer => {
  const { directory, input } = context;
  const session = directory === null ? null : readSession(directory, input.sessionId);
  recordLineage(context, session);
  if (directory === null || session === null) return NO_ANSWER;
  releaseLocks(context, session.locks);
  beatTask(context, taskOf(session), { status: 'ended' });
  forgetSession(directory, input.sessionId);
  return NO_ANSWER;
};
