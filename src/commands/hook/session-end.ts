import { forgetSession, readSession } from '../../act/hooks/session-state.ts';
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
  if (kin.get(agent.pid)?.start !== agent.start) return [];
  const children = new Map<number, number[]>();
  for (const [pid, { ppid }] of kin) children.set(ppid, [...(children.get(ppid) ?? []), pid]);
  const own = new Set<number>();
  for (let up = process.pid; up > 1 && up !== agent.pid; up = kin.get(up)?.ppid ?? 0) own.add(up);
  const found: (Identity & { parent: Identity })[] = [];
  const pending: Identity[] = [agent];
  for (let parent = pending.shift(); parent !== undefined; parent = pending.shift()) {
    for (const pid of children.get(parent.pid) ?? []) {
      const facts = kin.get(pid);
      if (facts === undefined || own.has(pid) || facts.state === 'Z') continue;
      const child = { pid, start: facts.start };
      found.push({ ...child, parent });
      pending.push(child);
    }
  }
  return found;
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
