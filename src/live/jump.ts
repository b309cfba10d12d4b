import { jumpToPane } from '../act/tmux/jump.ts';
import { type Identity, keyOf } from '../model/identity.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { calls } from '../words/process.ts';
import type { LiveEngineOptions } from './engine-options.ts';

/** Brings the pane of a process to the front, or says why not. */
export const jumpTo = async (
  target: Identity,
  { processes }: Snapshot,
  { system, env }: Pick<LiveEngineOptions, 'system' | 'env'>,
): Promise<string> => {
  const found = processes.find(p => keyOf(p.facts) === keyOf(target));
  if (found === undefined) return 'It is gone.';
  if (found.tmux === null) return `${calls(found)} is in no tmux pane.`;
  if (system.around !== undefined)
    return `${calls(found)} is in a pane of another machine: it cannot be shown here.`;
  return jumpToPane(found.tmux, env);
};
