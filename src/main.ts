/** The bundle `main.js`: the whole program, and the hooks that need most of it, which `quick.js` calls here. */
import type * as kills from './hooks/kill-targets.ts';
import type * as hooks from './hooks/session-start.ts';

export { main } from './cli.ts';

export const sessionStart: typeof hooks.sessionStart = async (...given) =>
  (await import('./hooks/session-start.ts')).sessionStart(...given);

export const clearZombies: typeof hooks.clearZombies = async (...given) =>
  (await import('./hooks/session-start.ts')).clearZombies(...given);

export const whoIsHit: typeof kills.whoIsHit = async (...given) =>
  (await import('./hooks/kill-targets.ts')).whoIsHit(...given);
