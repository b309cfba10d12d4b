import type { LiveState } from '../../engine/live-state.ts';
import type { Finding } from '../../model/finding.ts';
import { doesNothing, pidsToType } from '../../model/plan.ts';
import { remedyInKeys } from '../../model/plan-text.ts';
import { type JudgedProcess, type Snapshot, whyNoPane } from '../../model/snapshot.ts';
import type { ViewState } from '../state.ts';
import type { Row } from '../tree/row-order.ts';

/** Where a key means something: each place has its own bindings. */
export const CONTEXTS = [
  'main',
  'filter',
  'search',
  'plan',
  'running',
  'signals',
  'setup',
  'export',
  'entry',
  'help',
] as const;
export type Context = (typeof CONTEXTS)[number];

/** Which bindings the keys mean now. */
export const contextOf = (view: ViewState): Context => {
  if (view.overlay) return view.overlay.kind === 'planning' ? 'plan' : view.overlay.kind;
  if (!view.filterOpen) return 'main';
  return view.searching ? 'search' : 'filter';
};

/** What a binding may look at to say that it cannot act now. */
export interface KeyContext {
  readonly view: ViewState;
  readonly state: LiveState;
  readonly row: Row | null;
  /** Marked processes, or the selected one; in the panel of findings those of the selected one. */
  readonly targets: readonly JudgedProcess[];
  /** The selected finding, or that of the selected row; null: there is none. */
  readonly finding: Finding | null;
}

/** Why a key cannot act now, in a sentence; null when it can. */
const cannotAct = ({ state }: KeyContext): string | null => {
  if (state.readOnly) return state.readOnly;
  return state.running && !state.running.done ? 'A plan is still running; wait for it to finish.' : null;
};

/** While a panel has the keys they are about its entry, never about a row of the tree, which may not be in sight. */
export const needsTree = ({ view }: KeyContext): string | null =>
  view.focus === 'tree' ? null : 'This key is for the tree; Esc goes back to it.';

export const needsTarget = (keyContext: KeyContext): string | null =>
  cannotAct(keyContext) ??
  (keyContext.targets.length > 0
    ? null
    : keyContext.view.focus !== 'tree'
      ? 'Nothing to act on: no process of this entry is running.'
      : keyContext.row?.gone
        ? 'This process has ended; select another row.'
        : 'Nothing to act on: select a process, or mark some with space.');

/** A session that may be put to sleep: what speaks against it is in the plan. */
export const idleSession = (p: JudgedProcess | null): JudgedProcess | null =>
  p?.isSession === true && p.session?.doing === 'idle' ? p : null;

export const needsRemedy = (keyContext: KeyContext): string | null => {
  const { finding, row, view } = keyContext;
  if (view.focus === 'tree' && idleSession(row?.process ?? null) !== null) return cannotAct(keyContext);
  if (finding === null) return 'Nothing to fix on this row; n goes to the next finding.';
  return (
    cannotAct(keyContext) ?? (finding.action === null ? `Nothing to run: ${remedyInKeys(finding)}.` : null)
  );
};

export const needsProcess = ({ targets, view }: KeyContext): string | null =>
  targets.length > 0 || view.focus === 'heartbeats'
    ? null
    : 'Nothing to copy: select a process, or mark some with space.';

/** In the Log it takes an acknowledgement back. */
const needsFindingHere = ({ finding, state, view }: KeyContext): string | null =>
  state.moment
    ? state.readOnly
    : finding === null && view.focus !== 'log'
      ? 'No finding on this row; n goes to the next one.'
      : null;

export const needsLeak = (keyContext: KeyContext): string | null =>
  cannotAct(keyContext) ??
  (keyContext.state.snapshot.totals.leaks > 0 ? null : 'Nothing to clean: no process is proven leaked.');

export const needsZombie = (keyContext: KeyContext): string | null =>
  cannotAct(keyContext) ?? (keyContext.state.snapshot.totals.zombies > 0 ? null : 'There are no zombies.');

const isWaiting = ({ session }: JudgedProcess): boolean => session?.doing === 'waiting';

/** The sessions that wait for the user. */
export const waitingIn = ({ processes }: Snapshot): readonly JudgedProcess[] => processes.filter(isWaiting);

const needsWaiting = ({ state, view }: KeyContext): string | null =>
  (view.frozen ?? state.snapshot).processes.some(isWaiting) ? null : 'No session waits for you.';

export const needsStop = (keyContext: KeyContext): string | null =>
  (keyContext.view.frozen ?? keyContext.state.snapshot).findings.length > 0 ||
  needsWaiting(keyContext) === null
    ? null
    : 'No findings, and no session waits for you.';

/** The process whose pane `o` goes to. */
export const inPane = ({ view, row, targets }: KeyContext): JudgedProcess | null =>
  (view.focus === 'tree' ? row?.process : targets[0]) ?? null;

export const needsPane = (keyContext: KeyContext): string | null => {
  if (keyContext.state.readOnly) return keyContext.state.readOnly;
  const { view, state } = keyContext;
  return inPane(keyContext)?.tmux ? null : whyNoPane('This process', view.frozen ?? state.snapshot);
};

export const needsMark = ({ view }: KeyContext): string | null =>
  view.marked.size > 0 ? null : 'Nothing is marked.';

export const needsWork = ({ state }: KeyContext): string | null =>
  state.running && !state.running.done ? null : 'Already done; nothing to stop.';

export const needsSteps = ({ view }: KeyContext): string | null =>
  view.overlay?.kind === 'plan' && doesNothing(view.overlay.plan) ? 'Nothing would be signalled.' : null;

/** The pid that must be typed before `y` counts; null: none. */
export const pidToType = ({ overlay }: ViewState): number | null =>
  overlay?.kind === 'plan'
    ? (pidsToType(overlay.plan).find(pid => !overlay.confirmed.includes(pid)) ?? null)
    : null;

/** Only where something would be ended for its zombies. */
const needsNudge = ({ view }: KeyContext): string | null =>
  view.overlay?.kind === 'plan' &&
  view.overlay.plan.how === 'zombies' &&
  view.overlay.plan.steps.some(step => step.signal !== 'SIGCHLD')
    ? null
    : 'Nothing would be ended here.';

const needsOtherWay = ({ view }: KeyContext): string | null =>
  view.overlay?.kind === 'plan' && view.overlay.plan.otherWay === undefined
    ? 'There is only one way to do this.'
    : null;

export const needsDetail = ({ view }: KeyContext): string | null =>
  view.detail ? null : 'The detail pane is closed; press enter to open it.';

export const needsPast = ({ state }: KeyContext): string | null =>
  state.moment ? null : 'Already live. Press [ to go back.';

type Reason = (keyContext: KeyContext) => string | null;

/** Context, keys, one word for the footer (or none), description, and the reason why it cannot act now. */
type Entry = readonly [context: Context, keys: string, label: string, description: string, reason?: Reason];

/**
 * Every key of the product. Ink knows no bindings, only handlers: with one table help, footer, the manual and the
 * sentence that says why a key cannot act now are made from what the keys really do.
 */
const TABLE = {
  'end-process': [
    'main',
    'x f9',
    'end',
    'end the selected or marked subtrees (TERM, then KILL)',
    needsTarget,
  ],
  kill: ['main', 'X', 'kill', 'kill the selected or marked subtrees at once (SIGKILL)', needsTarget],
  fix: ['main', 'f', 'fix', 'fix the finding, or put the idle session to sleep', needsRemedy],
  acknowledge: [
    'main',
    'A',
    '',
    'acknowledge the finding: quiet until it changes; in the log: take it back',
    needsFindingHere,
  ],
  clean: ['main', 'c', 'clean', 'clean what is proven leaked', needsLeak],
  zombies: [
    'main',
    'z',
    'zombies',
    'zombies: nudge their parent, or end it if it is an idle server',
    needsZombie,
  ],
  signal: ['main', 'S', 'signal', 'choose a signal for the selected or marked processes', needsTarget],
  up: ['main', 'up k', '', 'one row up'],
  down: ['main', 'down j', '', 'one row down'],
  left: ['main', 'left h', '', 'close the row, or go to its parent', needsTree],
  right: ['main', 'right l', '', 'open the row, or go to its first child', needsTree],
  'page-up': ['main', 'pageup ctrl-b', '', 'one page up'],
  'page-down': ['main', 'pagedown ctrl-f', '', 'one page down'],
  home: ['main', 'g home', '', 'first row'],
  end: ['main', 'G end', '', 'last row'],
  'level-1': ['main', '1', 'sessions', 'one row per session'],
  'level-2': ['main', '2', '', 'sessions with their servers, shells and builds'],
  'level-3': ['main', '3', '', 'every process'],
  'level-up': ['main', 'H', '', 'one level up; at the top: close what was opened'],
  'level-down': ['main', 'L', '', 'one level down; at the bottom: open what was closed'],
  mark: ['main', 'space', 'mark', 'mark or unmark the row; on a heading, all below it', needsTree],
  'unmark-all': ['main', 'u', '', 'unmark everything', needsMark],
  filter: ['main', '/ f4', 'filter', 'show only rows that match what they show; tab: search'],
  search: ['main', 'f3', '', 'search: nothing is hidden'],
  sort: ['main', 's f6', 'sort', 'next order: start, memory, memory of the subtree, CPU, newest, name, pid'],
  grouping: ['main', 't', 'group', 'group by tmux session, by project, or not at all'],
  'by-memory': ['main', 'M', '', 'one list, the most memory first; again: reversed'],
  'by-cpu': ['main', 'P', '', 'one list, the most CPU first; again: reversed'],
  'by-age': ['main', 'T', '', 'one list, the oldest first; again: reversed'],
  'next-waiting': ['main', 'w', 'waiting', 'go to the next session that waits for you', needsWaiting],
  tree: ['main', 'f5', '', 'back to the tree, by tmux session'],
  'next-finding': ['main', 'n', 'next', 'go to the next one that waits, or to the next finding', needsStop],
  'previous-finding': ['main', 'N', '', 'the same, backwards', needsStop],
  detail: [
    'main',
    'enter',
    'detail',
    'open or close the detail pane; in a panel: go to the process, wake a session, open an entry of the log',
  ],
  'detail-down': ['main', 'J', '', 'scroll the detail pane down', needsDetail],
  'detail-up': ['main', 'K', '', 'scroll the detail pane up', needsDetail],
  'next-panel': ['main', 'tab', 'panels', 'next panel: tree, findings, heartbeats, asleep, log'],
  'previous-panel': ['main', 'shift-tab', '', 'previous panel'],
  peek: ['main', 'i', '', 'peek: the last lines of its tmux pane', needsPane],
  pane: ['main', 'o', 'pane', 'go to its tmux pane', needsPane],
  all: ['main', 'a', 'all', 'all processes, or only those related to agents'],
  freeze: ['main', 'p', 'freeze', 'freeze or unfreeze the view; sampling goes on'],
  'time-back': ['main', '[', '', 'previous snapshot that guard recorded'],
  'time-forward': ['main', ']', '', 'next snapshot, or back to live', needsPast],
  'mark-back': ['main', '{', '', 'previous event: leak, end, silent agent, memory peak, OOM kill, boot'],
  'mark-forward': ['main', '}', '', 'next event, or back to live', needsPast],
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
  back: ['main', 'escape', '', 'leave what a key brought: detail, panel, filter, list, the past'],
  quit: ['main', 'q f10', 'quit', 'quit'],
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
  'nudge-only': ['plan', 'n', 'nudge only', 'zombies: only nudge their parents, end nothing', needsNudge],
  'plan-up': ['plan', 'up k', '', 'scroll the plan up'],
  'plan-down': ['plan', 'down j', '', 'scroll the plan down'],
  'plan-page-up': ['plan', 'pageup', '', 'scroll a page up'],
  'plan-page-down': ['plan', 'pagedown space', '', 'scroll a page down'],
  'plan-other-way': [
    'plan',
    'tab',
    '',
    'the other way: free a hung call, or put a session to sleep',
    needsOtherWay,
  ],
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
  'export-json': ['export', 'j', 'JSON', 'the machine as --json shows it'],
  'entry-up': ['entry', 'up k', '', 'scroll up'],
  'entry-down': ['entry', 'down j', '', 'scroll down'],
  'help-up': ['help', 'up k', '', 'scroll up'],
  'help-down': ['help', 'down j', '', 'scroll down'],
  'help-page-up': ['help', 'pageup', '', 'a page up'],
  'help-page-down': ['help', 'pagedown space', '', 'a page down'],
} as const satisfies Record<string, Entry>;

export type BindingName = keyof typeof TABLE;

/** The bindings of one context. */
export type NamesIn<C extends Context> = {
  [N in BindingName]: (typeof TABLE)[N][0] extends C ? N : never;
}[BindingName];

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
