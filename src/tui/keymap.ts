import type { LiveState } from '../engine/live.ts';
import type { JudgedProcess } from '../model/snapshot.ts';
import { contextOf } from './key-context.ts';
import type { Row } from './rows.ts';
import type { ViewState } from './view-state.ts';

/** Where a key means something: each place has its own bindings. */
export const CONTEXTS = ['main', 'filter', 'plan', 'running', 'signals', 'help'] as const;
export type Context = (typeof CONTEXTS)[number];

/** What a binding may look at to say that it cannot act now. */
export interface Situation {
  readonly view: ViewState;
  readonly state: LiveState;
  readonly row: Row | null;
  /** Marked processes, or the selected one. */
  readonly targets: readonly JudgedProcess[];
}

export interface Binding {
  readonly name: BindingName;
  readonly context: Context;
  readonly keys: readonly string[];
  /** One word for the footer; empty: not in the footer. */
  readonly label: string;
  readonly description: string;
  /** A sentence when the key cannot act now, else null. */
  readonly disabledReason?: (situation: Situation) => string | null;
}

const cannotAct = ({ state }: Situation): string | null => {
  if (state.readOnly) return state.readOnly;
  return state.running && !state.running.done ? 'A plan is still running: wait for it to finish.' : null;
};

const needsTarget = (situation: Situation): string | null =>
  cannotAct(situation) ??
  (situation.targets.length > 0 ? null : 'Nothing to act on: select a process, or mark some with space.');

const needsLeak = (situation: Situation): string | null =>
  cannotAct(situation) ??
  (situation.state.snapshot.totals.leaks > 0
    ? null
    : 'No process is proven leaked: there is nothing to clean.');

const needsZombie = (situation: Situation): string | null =>
  cannotAct(situation) ??
  (situation.state.snapshot.totals.zombies > 0 ? null : 'No zombies below a related process.');

const needsFinding = ({ state }: Situation): string | null =>
  state.snapshot.findings.length > 0 ? null : 'No findings: nothing looks wrong.';

const needsPane = ({ state, row }: Situation): string | null => {
  if (state.readOnly) return state.readOnly;
  return row?.process?.tmux ? null : 'This row is not in a tmux pane.';
};

const needsMark = ({ view }: Situation): string | null =>
  view.marked.size > 0 ? null : 'Nothing is marked.';

const needsDetail = ({ view }: Situation): string | null =>
  view.detail ? null : 'The detail pane is closed: enter opens it.';

const main = (
  name: BindingName,
  keys: readonly string[],
  label: string,
  description: string,
  disabledReason?: Binding['disabledReason'],
): Binding => ({
  name,
  context: 'main',
  keys,
  label,
  description,
  ...(disabledReason && { disabledReason }),
});

export type BindingName =
  | 'up'
  | 'down'
  | 'left'
  | 'right'
  | 'page-up'
  | 'page-down'
  | 'home'
  | 'end'
  | 'fold-all'
  | 'unfold-all'
  | 'mark'
  | 'unmark-all'
  | 'filter'
  | 'sort'
  | 'next-finding'
  | 'previous-finding'
  | 'detail'
  | 'detail-down'
  | 'detail-up'
  | 'next-panel'
  | 'previous-panel'
  | 'pane'
  | 'all'
  | 'freeze'
  | 'longer'
  | 'shorter'
  | 'end-process'
  | 'kill'
  | 'clean'
  | 'zombies'
  | 'signal'
  | 'refresh'
  | 'help'
  | 'back'
  | 'quit'
  | 'interrupt'
  | 'suspend'
  | 'filter-keep'
  | 'filter-clear'
  | 'filter-erase'
  | 'filter-up'
  | 'filter-down'
  | 'go'
  | 'plan-up'
  | 'plan-down'
  | 'plan-page-up'
  | 'plan-page-down'
  | 'plan-erase'
  | 'stop'
  | 'running-up'
  | 'running-down'
  | 'running-leave'
  | 'signals-up'
  | 'signals-down'
  | 'signals-choose'
  | 'help-up'
  | 'help-down'
  | 'help-page-up'
  | 'help-page-down';

/** Every key of the product. Help, footer and the README's table are made from this. */
export const BINDINGS: readonly Binding[] = [
  main(
    'end-process',
    ['x'],
    'end',
    'end the selected or marked subtrees (SIGTERM, then SIGKILL); shows the plan first',
    needsTarget,
  ),
  main(
    'kill',
    ['X'],
    'kill',
    'kill the selected or marked subtrees at once (SIGKILL); shows the plan first',
    needsTarget,
  ),
  main('clean', ['c'], 'clean', 'clean what is proven leaked; shows the plan first', needsLeak),
  main(
    'zombies',
    ['z'],
    'zombies',
    'deal with zombies: nudge the parent that owes the wait; shows the plan first',
    needsZombie,
  ),
  main('signal', ['S'], 'signal', 'choose a signal for the selected or marked processes', needsTarget),
  main('up', ['up', 'k'], '', 'one row up'),
  main('down', ['down', 'j'], '', 'one row down'),
  main('left', ['left', 'h'], '', 'fold the row, or go to its parent'),
  main('right', ['right', 'l'], '', 'unfold the row, or go to its first child'),
  main('page-up', ['pageup', 'ctrl-b'], '', 'one page up'),
  main('page-down', ['pagedown', 'ctrl-f'], '', 'one page down'),
  main('home', ['g', 'home'], '', 'first row'),
  main('end', ['G', 'end'], '', 'last row'),
  main('fold-all', ['H'], '', 'fold everything'),
  main('unfold-all', ['L'], '', 'unfold everything'),
  main('mark', ['space'], 'mark', 'mark or unmark the row; on a heading, all below it'),
  main('unmark-all', ['u'], '', 'unmark everything', needsMark),
  main('filter', ['/'], 'filter', 'show only what matches: name, kind, verdict, pid, path'),
  main('sort', ['s'], 'sort', 'next order: start, memory, CPU, newest, name, pid'),
  main('next-finding', ['n'], 'finding', 'select the process of the next finding', needsFinding),
  main('previous-finding', ['N'], '', 'select the process of the previous finding', needsFinding),
  main(
    'detail',
    ['enter'],
    'detail',
    'open or close the detail pane; in Findings and Heartbeats: go to the process',
  ),
  main('detail-down', ['J'], '', 'scroll the detail pane down', needsDetail),
  main('detail-up', ['K'], '', 'scroll the detail pane up', needsDetail),
  main('next-panel', ['tab'], 'panels', 'next panel: tree, findings, heartbeats, log'),
  main('previous-panel', ['shift-tab'], '', 'previous panel'),
  main('pane', ['o'], 'pane', 'go to its tmux pane', needsPane),
  main('all', ['a'], 'all', 'all processes of the machine, or only those related to agents'),
  main('freeze', ['p'], 'freeze', 'freeze or thaw the view; collection goes on'),
  main('longer', ['+', '='], '', 'refresh less often'),
  main('shorter', ['-', '_'], '', 'refresh more often'),
  main('refresh', ['r', 'ctrl-l'], '', 'refresh and redraw now'),
  main('help', ['?', 'f1'], 'help', 'this help'),
  main('back', ['escape'], '', 'close what is open: detail, panel, filter'),
  main('quit', ['q'], 'quit', 'quit'),
  main('interrupt', ['ctrl-c'], '', 'quit with exit code 130, from anywhere'),
  main('suspend', ['ctrl-z'], '', 'suspend to the shell; fg comes back'),
  { name: 'filter-keep', context: 'filter', keys: ['enter'], label: 'keep', description: 'keep the filter' },
  {
    name: 'filter-clear',
    context: 'filter',
    keys: ['escape'],
    label: 'clear',
    description: 'clear the filter',
  },
  {
    name: 'filter-erase',
    context: 'filter',
    keys: ['backspace', 'delete'],
    label: '',
    description: 'erase one character',
  },
  { name: 'filter-up', context: 'filter', keys: ['up'], label: '', description: 'one row up' },
  { name: 'filter-down', context: 'filter', keys: ['down'], label: '', description: 'one row down' },
  {
    name: 'go',
    context: 'plan',
    keys: ['y'],
    label: 'go',
    description: 'run the plan; any other key leaves it',
  },
  { name: 'plan-up', context: 'plan', keys: ['up', 'k'], label: '', description: 'scroll the plan up' },
  { name: 'plan-down', context: 'plan', keys: ['down', 'j'], label: '', description: 'scroll the plan down' },
  { name: 'plan-page-up', context: 'plan', keys: ['pageup'], label: '', description: 'scroll a page up' },
  {
    name: 'plan-page-down',
    context: 'plan',
    keys: ['pagedown', 'space'],
    label: '',
    description: 'scroll a page down',
  },
  {
    name: 'plan-erase',
    context: 'plan',
    keys: ['backspace', 'delete'],
    label: '',
    description: 'erase a typed digit',
  },
  { name: 'stop', context: 'running', keys: ['C'], label: 'stop', description: 'send no further signals' },
  {
    name: 'running-up',
    context: 'running',
    keys: ['up', 'k', 'pageup'],
    label: '',
    description: 'scroll up',
  },
  {
    name: 'running-down',
    context: 'running',
    keys: ['down', 'j', 'pagedown'],
    label: '',
    description: 'scroll down',
  },
  {
    name: 'running-leave',
    context: 'running',
    keys: ['escape', 'enter', 'q', 'space'],
    label: 'leave',
    description: 'back to the tree; the work goes on and the log tells',
  },
  { name: 'signals-up', context: 'signals', keys: ['up', 'k'], label: '', description: 'previous signal' },
  { name: 'signals-down', context: 'signals', keys: ['down', 'j'], label: '', description: 'next signal' },
  {
    name: 'signals-choose',
    context: 'signals',
    keys: ['enter'],
    label: 'choose',
    description: 'show the plan for this signal',
  },
  { name: 'help-up', context: 'help', keys: ['up', 'k'], label: '', description: 'scroll up' },
  { name: 'help-down', context: 'help', keys: ['down', 'j'], label: '', description: 'scroll down' },
  { name: 'help-page-up', context: 'help', keys: ['pageup'], label: '', description: 'a page up' },
  {
    name: 'help-page-down',
    context: 'help',
    keys: ['pagedown', 'space'],
    label: '',
    description: 'a page down',
  },
];

export const bindingFor = (view: ViewState, key: string): Binding | null => {
  const context = contextOf(view);
  return BINDINGS.find(b => b.context === context && b.keys.includes(key)) ?? null;
};
