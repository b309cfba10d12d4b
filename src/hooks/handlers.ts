import { type HookAnswer, type HookEvent, type HookInput, NO_ANSWER } from '../model/hook.ts';
import { freshSession, type HookContext, hasPlugin, hookContext } from './context.ts';
import { beat, beaten } from './session-heartbeat.ts';
import { readSession, updateSession } from './session-state.ts';

type Handler = (context: HookContext) => HookAnswer | Promise<HookAnswer>;

/** Begins the session's heartbeat; only a new session has the time to clear up. */
const start: Handler = async context => {
  const { directory, input } = context;
  if (directory !== null)
    updateSession(
      directory,
      input.sessionId,
      () => freshSession(context),
      before => ({ after: { ...beaten(context, before), operation: 'starting' }, result: true }),
      { waitMs: context.left() },
    );
  if (input.source !== 'startup') return NO_ANSWER;
  const { sessionStart } = await import('./session-start.ts');
  return sessionStart(context);
};

/** A beat comes with every tool call: it does not wait for what rarer events need. */
const stop: Handler = async context => (await import('./stop.ts')).stop(context);

const HANDLERS = {
  SessionStart: start,
  UserPromptSubmit: beat,
  PreToolUse: async context => (await import('./pre-tool.ts')).preTool(context),
  PostToolUse: beat,
  PostToolUseFailure: beat,
  SubagentStop: stop,
  Stop: stop,
  SessionEnd: async context => (await import('./session-end.ts')).sessionEnd(context),
} as const satisfies Record<HookEvent, Handler>;

/** Settings name our hooks, and the plugin brings them as well. */
const isPluginsEvent = ({ input, directory, env }: HookContext): boolean =>
  input.caller === 'settings' &&
  ((directory !== null && readSession(directory, input.sessionId)?.byPlugin === true) ||
    (input.event === 'SessionStart' && hasPlugin(env)));

/** Never throws: whatever goes wrong here is no reason for an agent to stop working. */
export const answer = async (
  input: HookInput,
  env: NodeJS.ProcessEnv,
  startedAt = Date.now(),
): Promise<HookAnswer> => {
  const context = hookContext(input, env, startedAt);
  try {
    if (isPluginsEvent(context)) return NO_ANSWER;
    const said = await HANDLERS[input.event](context);
    if (input.caller === 'codex' && input.event !== 'SessionEnd')
      (await import('./session-end.ts')).recordAsItGoes(context);
    return said;
  } catch (error) {
    context.log(`failed: ${(error as Error).message}`);
    return NO_ANSWER;
  }
};
