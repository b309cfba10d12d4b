import type { Live, LiveState, TimeStep } from '../../src/engine/live-state.ts';
import { DEFAULT_CONFIG } from '../../src/model/config-defaults.ts';
import type { JudgedProcess, Owner, Snapshot } from '../../src/model/snapshot.ts';
import type { ViewEvent } from '../../src/tui/state.ts';
import { Store } from '../../src/tui/store.ts';
import { glyphsFor } from '../../src/tui/ui/glyphs.ts';
import { invent, snapshotOf } from '../judge/plan/machine.ts';
import { mount, settling } from './mounted.tsx';

const TMUX = { socket: '/t/default', session: 'main', pane: '%1', window: '0' } as never;
const live = { verdict: 'live' } as const;

export const ENDED: Owner = { pid: null, start: null, sessionId: 'ended', how: 'environ', alive: false };

/** Ten rows: what a session left 20 → 21 → 22 and 23, in tmux 30 → 31, outside it 40; each with a row above it. */
const PROCESSES: readonly JudgedProcess[] = [
  invent(20, 1, { owner: ENDED }),
  invent(21, 20),
  invent(22, 21),
  invent(23, 20),
  invent(30, 1, { ...live, kind: 'agent', tmux: TMUX }),
  invent(31, 30, { ...live, tmux: TMUX }),
  invent(40, 1, live),
];

export interface HandOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly snapshot?: Partial<Snapshot>;
  readonly state?: Partial<LiveState>;
  /** What the engine answers, in place of going well. */
  readonly answers?: Partial<Live>;
}

/** The keys of a screen that is nowhere, over an engine that notes what it is asked for. */
export const handOn = ({ columns = 100, rows = 30, snapshot, state, answers }: HandOptions = {}) => {
  const asked: string[] = [];
  const note =
    <T>(word: string, answer: T) =>
    (...args: readonly unknown[]): T => {
      asked.push([word, ...args.map(arg => (typeof arg === 'object' ? JSON.stringify(arg) : arg))].join(' '));
      return answer;
    };
  const listeners = new Set<() => void>();
  let now = {
    snapshot: snapshotOf(PROCESSES, snapshot),
    config: { ...DEFAULT_CONFIG, level: 3 },
    intervalSeconds: 2,
    slowedDown: false,
    readOnly: null,
    running: null,
    log: [],
    error: null,
    ...state,
  } as LiveState;
  const become = (change: Partial<LiveState>): void => {
    now = { ...now, ...change };
    settling(() => {
      for (const listener of listeners) listener();
    });
  };
  const engine = {
    subscribe: listener => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    getState: () => now,
    history: () => [],
    treeHistory: () => [],
    proportionalMemory: async () => null,
    plan: note('plan', new Promise(() => {})),
    run: note('run', Promise.resolve(null)),
    cancel: note('cancel', undefined),
    jump: note('jump', Promise.resolve('Jumped.')),
    exportScreen: note('export', Promise.resolve('/here/screen')),
    copyToTmux: note('tmux', Promise.resolve(false)),
    travel: note('travel', Promise.resolve(null)) as (step: TimeStep) => Promise<string | null>,
    setInterval: (seconds: number) => {
      asked.push(`interval ${seconds}`);
      become({ intervalSeconds: seconds });
    },
    saveSettings: note('save', Promise.resolve('Saved.')),
    setAll: note('all', undefined),
    refresh: note('refresh', undefined),
    stop: async () => {},
    ...answers,
  } satisfies Live as Live;
  const store = new Store({
    live: engine,
    size: { columns, rows },
    glyphs: glyphsFor({ LC_ALL: 'C.UTF-8' }),
    terminal: {
      setMouse: () => {},
      frame: () => ['\u001b[31mred\u001b[0m  ', 'plain', '', ''],
      copy: note('clipboard', undefined),
      quit: note('quit', undefined),
      suspend: note('suspend', undefined),
      redraw: note('redraw', undefined),
    },
  });
  const screen = mount(store);
  let chunk = 0;
  const stroke = (key: string, text: string, more: object = {}): void => {
    chunk += 1;
    screen.key({ key, text, chunk, ...more });
  };
  const typed = (key: string): string => (key === 'space' ? ' ' : [...key].length === 1 ? key : '');
  return {
    store,
    asked,
    become,
    lines: screen.lines,
    dispatch: (event: ViewEvent): void => settling(() => store.dispatch(event)),
    /** Keys by their names, each in a read of its own. */
    press: (...keys: readonly string[]): void => {
      for (const key of keys) stroke(key, typed(key));
    },
    /** Keys by their names, all in one read. */
    read: (...keys: readonly string[]): void => {
      chunk += 1;
      screen.read(keys.map(key => ({ key, text: typed(key), chunk })));
    },
    paste: (text: string): void => stroke('paste', text),
    mouse: (what: 'press' | 'wheel-up' | 'wheel-down', column: number, row: number): void =>
      stroke('mouse', '', { mouse: { what, column, row } }),
    /** What the engine promised has come. */
    answered: (): Promise<void> => new Promise(setImmediate),
    said: (): string | null => store.view.notice?.text ?? null,
    tone: (): string | null => store.view.notice?.tone ?? null,
    /** The pid of the selected row, or the title of its heading. */
    selected: (): number | string | undefined => {
      const row = store.rows[store.view.selectedIndex];
      return row?.group?.title ?? row?.process?.facts.pid;
    },
    shown: (): (number | string | undefined)[] =>
      store.rows.map(row => row.group?.title ?? row.process?.facts.pid),
  };
};

export type Hand = ReturnType<typeof handOn>;
