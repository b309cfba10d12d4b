import { writeSync } from 'node:fs';
import { HOOK_CALLERS, type HookAnswer, type HookCaller, isHookEvent, NO_ANSWER } from '../model/hook.ts';
import { stateDirectory } from '../observe/state/state-directory.ts';
import { hookLimitMs, logHook } from './context.ts';
import { understand } from './decide/input.ts';
import { answer } from './handlers.ts';
import { readEvent } from './stdin.ts';

/** A whole line at once; a pipe that is full or closed changes nothing about what was done. */
const say = (what: HookAnswer): void => {
  try {
    writeSync(1, `${JSON.stringify(what)}\n`);
  } catch {
    // nobody listens any more
  }
};

const run = async (event: string, caller: HookCaller, startedAt: number): Promise<HookAnswer> => {
  const complain = (what: string): HookAnswer => {
    logHook(stateDirectory(process.env), event, null, what);
    return NO_ANSWER;
  };
  if (!isHookEvent(event)) return complain('no such event');
  const told = await readEvent();
  if (!told.ok) return complain(told.why);
  const input = understand(event, told.text, caller);
  return input === null
    ? complain('what came on standard input is not an event')
    : answer(input, process.env, startedAt);
};

/** As Claude Code names its events, those of later versions too. Another word is an action, or one mistyped. */
const EVENT = /^[A-Z][A-Za-z]*$/;

/**
 * `reaptop hook EVENT`, without the rest of the program: that takes longer to load than a hook may take. False: it is
 * another word, and not ours to answer. Exits 0 whatever happens: any other code would trouble the agent.
 */
export const hookEntry = (args: readonly string[]): boolean => {
  const [event, flag = '--settings'] = args;
  if (event === undefined || !EVENT.test(event)) return false;
  const finish = (what: HookAnswer): void => {
    say(what);
    process.exit(0);
  };
  const startedAt = Date.now();
  setTimeout(() => finish(NO_ANSWER), hookLimitMs(event));
  // A flag of a later version: the event is answered all the same.
  const caller = HOOK_CALLERS.find(name => `--${name}` === flag) ?? 'settings';
  void run(event, caller, startedAt)
    .catch(() => NO_ANSWER)
    .then(finish);
  return true;
};
