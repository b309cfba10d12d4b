import type { ViewState } from '../view/state.ts';
import { type Context, contextOf } from './context.ts';
import {
  needsDetail,
  needsFinding,
  needsLeak,
  needsMark,
  needsPane,
  needsPast,
  needsProcess,
  needsRemedy,
  needsSteps,
  needsTarget,
  needsTree,
  needsWork,
  needsZombie,
  type Situation,
} from './reasons.ts';

export type { Situation } from './reasons.ts';

type Reason = (situation: Situation) => string | null;

/** context, keys, one word for the footer (or none), description, and what says why it cannot act now. */
type Entry = readonly [context: Context, keys: string, label: string, description: string, reason?: Reason];

/**
 * Every key of the product. Ink knows no bindings, only handlers: with one table help, footer, the README and the
 * sentence that says why a key cannot act now are made from what the keys really do.
 */
const TABLE = {
  'end-process': [
    'main',
    'x',
    'end',
    'end the selected or marked subtrees (TERM, then KILL), after the plan',
    needsTarget,
  ],
  kill: [
    'main',
    'X',
    'kill',
    'kill the selected or marked subtrees at once (SIGKILL), after the plan',
    needsTarget,
  ],
  fix: [
    'main',
    'f',
    'fix',
    'fix the finding: the selected one, or that of the row; after the plan',
    needsRemedy,
  ],
  clean: ['main', 'c', 'clean', 'clean what is proven leaked, after the plan', needsLeak],
  zombies: [
    'main',
    'z',
    'zombies',
    'zombies: nudge the parent that has not reaped them, after the plan',
    needsZombie,
  ],
  signal: ['main', 'S', 'signal', 'choose a signal for the selected or marked processes', needsTarget],
  up: ['main', 'up k', '', 'one row up'],
  down: ['main', 'down j', '', 'one row down'],
  left: ['main', 'left h', '', 'fold the row, or go to its parent', needsTree],
  right: ['main', 'right l', '', 'unfold the row, or go to its first child', needsTree],
  'page-up': ['main', 'pageup ctrl-b', '', 'one page up'],
  'page-down': ['main', 'pagedown ctrl-f', '', 'one page down'],
  home: ['main', 'g home', '', 'first row'],
  end: ['main', 'G end', '', 'last row'],
  'fold-all': ['main', 'H', '', 'fold everything'],
  'unfold-all': ['main', 'L', '', 'unfold everything'],
  mark: ['main', 'space', 'mark', 'mark or unmark the row; on a heading, all below it', needsTree],
  'unmark-all': ['main', 'u', '', 'unmark everything', needsMark],
  filter: ['main', '/', 'filter', 'show only what matches: name, kind, verdict, pid, path; tab: search'],
  sort: ['main', 's', 'sort', 'next order: start, memory, memory of the subtree, CPU, newest, name, pid'],
  grouping: ['main', 't', 'group', 'group by tmux session, by project, or not at all'],
  'by-memory': ['main', 'M', '', 'one list, the most memory first; again: reversed'],
  'by-cpu': ['main', 'P', '', 'one list, the most CPU first; again: reversed'],
  'by-age': ['main', 'T', '', 'one list, the oldest first; again: reversed'],
  'next-finding': ['main', 'n', 'finding', 'select the process of the next finding', needsFinding],
  'previous-finding': ['main', 'N', '', 'select the process of the previous finding', needsFinding],
  detail: [
    'main',
    'enter',
    'detail',
    'open or close the detail pane; in a panel: go to the process, in the log: open the entry',
  ],
  'detail-down': ['main', 'J', '', 'scroll the detail pane down', needsDetail],
  'detail-up': ['main', 'K', '', 'scroll the detail pane up', needsDetail],
  'next-panel': ['main', 'tab', 'panels', 'next panel: tree, findings, heartbeats, log'],
  'previous-panel': ['main', 'shift-tab', '', 'previous panel'],
  pane: ['main', 'o', 'pane', 'go to its tmux pane', needsPane],
  all: ['main', 'a', 'all', 'all processes, or only those related to agents'],
  freeze: ['main', 'p', 'freeze', 'freeze or thaw the view; collection goes on'],
  'time-back': ['main', '[', '', 'one picture back in what guard recorded'],
  'time-forward': ['main', ']', '', 'one picture on; at the end it is live again', needsPast],
  'mark-back': ['main', '{', '', 'back to the last leak, end, silence, memory peak, OOM kill or boot'],
  'mark-forward': ['main', '}', '', 'on to the next of them', needsPast],
  longer: ['main', '+ =', '', 'refresh less often'],
  shorter: ['main', '- _', '', 'refresh more often'],
  refresh: ['main', 'r ctrl-l', '', 'refresh and redraw now'],
  export: ['main', 'e', 'export', 'write the screen to a file here: text, SVG or JSON'],
  copy: [
    'main',
    'Y',
    'copy',
    'copy the pid, and again the command: to the clipboard and to tmux',
    needsProcess,
  ],
  setup: ['main', ', f2', 'setup', 'setup: columns, theme, refresh, mouse'],
  help: ['main', '? f1', 'help', 'this help'],
  back: ['main', 'escape', '', 'close what is open: detail, panel, filter'],
  quit: ['main', 'q', 'quit', 'quit'],
  interrupt: ['main', 'ctrl-c', '', 'quit with exit code 130, from anywhere'],
  suspend: ['main', 'ctrl-z', '', 'suspend to the shell; fg comes back'],
  'filter-keep': ['filter', 'enter', 'keep', 'keep the filter'],
  'filter-clear': ['filter', 'escape', 'clear', 'clear the filter'],
  'filter-search': ['filter', 'tab', 'search', 'search instead: what does not match stays'],
  'filter-erase': ['filter', 'backspace delete', '', 'erase one character'],
  'filter-up': ['filter', 'up', '', 'one row up'],
  'filter-down': ['filter', 'down', '', 'one row down'],
  'search-next': ['search', 'enter', 'next', 'go to the next match, folded away or not'],
  'search-filter': ['search', 'tab', 'filter', 'filter instead: what does not match is hidden'],
  'search-leave': ['search', 'escape', 'leave', 'leave the search; the selection stays'],
  'search-erase': ['search', 'backspace delete', '', 'erase one character'],
  'search-up': ['search', 'up', '', 'one row up'],
  'search-down': ['search', 'down', '', 'one row down'],
  go: ['plan', 'y', 'run', 'run the plan; any other key cancels it', needsSteps],
  'plan-up': ['plan', 'up k', '', 'scroll the plan up'],
  'plan-down': ['plan', 'down j', '', 'scroll the plan down'],
  'plan-page-up': ['plan', 'pageup', '', 'scroll a page up'],
  'plan-page-down': ['plan', 'pagedown space', '', 'scroll a page down'],
  'plan-erase': ['plan', 'backspace delete', '', 'erase a typed digit'],
  stop: ['running', 'C', 'stop', 'send no further signals', needsWork],
  'running-up': ['running', 'up k pageup', '', 'scroll up'],
  'running-down': ['running', 'down j pagedown', '', 'scroll down'],
  'running-leave': ['running', 'escape enter q space', 'leave', 'back to the tree; the work goes on'],
  'signals-up': ['signals', 'up k', '', 'previous signal'],
  'signals-down': ['signals', 'down j', '', 'next signal'],
  'signals-choose': ['signals', 'enter', 'choose', 'show the plan for this signal'],
  'setup-up': ['setup', 'up k', '', 'previous setting'],
  'setup-down': ['setup', 'down j', '', 'next setting'],
  'setup-less': ['setup', 'left h', '', 'previous value; a column: one place to the left'],
  'setup-more': ['setup', 'right l', 'change', 'next value; a column: one place to the right'],
  'setup-toggle': ['setup', 'space enter', 'on/off', 'switch on or off'],
  'setup-save': ['setup', 's', 'save', 'save to the config; the file as it was is kept beside it'],
  'setup-leave': ['setup', 'escape q', 'undo', 'leave, with everything as it was'],
  'export-text': ['export', 't', 'text', 'as plain text'],
  'export-svg': ['export', 's', 'SVG', 'as a picture'],
  'export-json': ['export', 'j', 'JSON', 'the machine as --json tells it'],
  'entry-up': ['entry', 'up k', '', 'scroll up'],
  'entry-down': ['entry', 'down j', '', 'scroll down'],
  'help-up': ['help', 'up k', '', 'scroll up'],
  'help-down': ['help', 'down j', '', 'scroll down'],
  'help-page-up': ['help', 'pageup', '', 'a page up'],
  'help-page-down': ['help', 'pagedown space', '', 'a page down'],
} as const satisfies Record<string, Entry>;

export type BindingName = keyof typeof TABLE;

export interface Binding {
  readonly name: BindingName;
  readonly context: Context;
  readonly keys: readonly string[];
  /** For the footer; empty: not in the footer. */
  readonly label: string;
  readonly description: string;
  /** A sentence when the key cannot act now, else null. */
  readonly disabledReason: Reason | null;
}

export const BINDINGS: readonly Binding[] = (Object.entries(TABLE) as [BindingName, Entry][]).map(
  ([name, [context, keys, label, description, reason = null]]) => ({
    name,
    context,
    keys: keys.split(' '),
    label,
    description,
    disabledReason: reason,
  }),
);

export const bindingFor = (view: ViewState, key: string): Binding | null => {
  const context = contextOf(view);
  return BINDINGS.find(b => b.context === context && b.keys.includes(key)) ?? null;
};
