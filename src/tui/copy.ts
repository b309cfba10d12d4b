import { shellLine } from '../model/shell.ts';
import type { JudgedProcess } from '../model/snapshot.ts';
import type { Action } from './keys/input.ts';
import { entryUnderCursor } from './panels/panel-entries.ts';
import type { Store } from './store.ts';

/** As a shell can take it: what is shown keeps `$`, `;` and the like as they are. */
const commandOf = ({ facts, command }: JudgedProcess): string =>
  shellLine(facts.argv === null || facts.argv.length === 0 ? [command] : facts.argv);

/** Pids first; the same again, straight after: the command lines. */
const copy: Action = store => {
  const { targets } = store;
  const beat = entryUnderCursor('heartbeats', store.screen, store.view);
  if (beat !== null) return put(store, beat.path, 'Copied the path');
  const pids = targets.map(p => p.facts.pid).join(' ');
  const again = store.view.copied === pids;
  const text = again ? targets.map(commandOf).join('\n') : pids;
  store.dispatch({ type: 'copied', pids: again ? null : pids });
  if (again) put(store, text, 'Copied the command');
  else put(store, text, `Copied pid ${pids}`, ' Y again: the command.');
};

const put = (store: Store, text: string, what: string, more = ''): void => {
  store.terminal.copy(text);
  store.live.copyToTmux(text).then(
    inTmux => store.notice(`${what}${inTmux ? ' (clipboard and tmux)' : ''}.${more}`, 'good'),
    () => store.notice(`${what}.${more}`, 'good'), // tmux is not there: the terminal has it
  );
};

export const COPY_KEYS = { copy } satisfies Record<string, Action>;
