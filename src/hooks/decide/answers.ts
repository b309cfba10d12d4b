import type { HookAnswer, HookEvent } from '../../model/hook.ts';
import { visible } from '../../model/text.ts';

/** Claude Code takes 10,000 characters of JSON. */
const MOST_SAID = 2000;

const sayable = (text: string): string => visible(text).slice(0, MOST_SAID);

const MOST_QUOTED = 200;

/** Text that we did not write, for a model to read as data: one line, short, in quotes that it cannot leave. */
export const quoted = (text: string): string => {
  const line = visible(text).replaceAll('"', "'");
  return line.length > MOST_QUOTED ? `"${line.slice(0, MOST_QUOTED - 1)}…"` : `"${line}"`;
};

/** Our own sentence, and behind it what a file or a path of the project says. */
export const fromRepository = (ours: string, theirs: string | null): string =>
  theirs === null ? ours : `${ours} From the repository: ${quoted(theirs)}`;

const decide = (permissionDecision: 'ask' | 'deny', reason: string): HookAnswer => ({
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision,
    permissionDecisionReason: sayable(reason),
  },
});

/** The model gets the reason, also where all permissions are granted. */
export const deny = (reason: string): HookAnswer => decide('deny', reason);

/** The user is asked, with the reason. */
export const ask = (reason: string): HookAnswer => decide('ask', reason);

/** Adds to what the model knows; decides nothing. */
export const tell = (event: HookEvent, context: string): HookAnswer => ({
  hookSpecificOutput: { hookEventName: event, additionalContext: sayable(context) },
});

/** For the user's eyes as well as for the model. */
export const warnUser = (event: HookEvent, context: string): HookAnswer => ({
  systemMessage: sayable(context),
  ...tell(event, context),
});

export const block = (reason: string): HookAnswer => ({ decision: 'block', reason: sayable(reason) });
