import type { HookAnswer, HookEvent } from '../../model/hook.ts';
import { visible } from '../../model/text.ts';

/** Claude Code takes 10,000 characters of JSON. */
const MOST_SAID = 2000;

const sayable = (text: string): string => visible(text).slice(0, MOST_SAID);

/** The model is told why, also where all permissions are given. */
export const deny = (reason: string): HookAnswer => ({
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision: 'deny',
    permissionDecisionReason: sayable(reason),
  },
});

/** Adds to what the model knows; decides nothing. */
export const tell = (event: HookEvent, context: string): HookAnswer => ({
  hookSpecificOutput: { hookEventName: event, additionalContext: sayable(context) },
});

/** For the user's eyes as well as for the model. */
export const warn = (event: HookEvent, context: string): HookAnswer => ({
  systemMessage: sayable(context),
  ...tell(event, context),
});

export const block = (reason: string): HookAnswer => ({ decision: 'block', reason: sayable(reason) });
