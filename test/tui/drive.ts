import { type Demo, type DemoOptions, startDemo } from '../../src/engine/demo.ts';
import type { Live } from '../../src/engine/live-state.ts';
import { DEFAULT_CONFIG } from '../../src/model/config-defaults.ts';
import type { Level } from '../../src/model/ui-settings.ts';
import { BINDINGS, type BindingName } from '../../src/tui/keys/bindings.ts';
import { runTui } from '../../src/tui/main.tsx';
import type { TuiOptions } from '../../src/tui/session.tsx';
import { HeadlessTerminal } from '../support/terminal.ts';

/** What a terminal sends for each key the bindings name. */
const SENT: Readonly<Record<string, string>> = {
  up: '\u001b[A',
  down: '\u001b[B',
  right: '\u001b[C',
  left: '\u001b[D',
  home: '\u001b[H',
  end: '\u001b[F',
  pageup: '\u001b[5~',
  pagedown: '\u001b[6~',
  delete: '\u001b[3~',
  'shift-tab': '\u001b[Z',
  f1: '\u001bOP',
  enter: '\r',
  tab: '\t',
  space: ' ',
  backspace: '\u007f',
  escape: '\u001b',
};

export const sent = (key: string): string => {
  if (key.startsWith('ctrl-')) return String.fromCharCode(key.charCodeAt(5) - 96);
  return SENT[key] ?? key;
};

export interface Driven {
  readonly terminal: HeadlessTerminal;
  /** The machine behind the screen. */
  readonly demo: Demo;
  /** The exit code, once the TUI has ended. */
  readonly ended: Promise<number>;
  /** Presses keys by the names of their bindings, each in a read of its own. */
  press(...names: BindingName[]): Promise<void>;
  type(chunk: string): Promise<void>;
  /** Selects a process by filtering for its pid. */
  filterTo(pid: number): Promise<void>;
  close(): Promise<number>;
}

export interface DriveOptions extends DemoOptions, TuiOptions {
  /** How much is shown at first. Default: every process. */
  readonly level?: Level;
  readonly env?: NodeJS.ProcessEnv;
  readonly demo?: Demo;
  /** In front of the engine: what a test wants to answer itself. */
  readonly answering?: (live: Live) => Partial<Live>;
  readonly stopSelf?: () => void;
}

/** The invented machine with time standing still, after as few looks as tell the same. */
export const standingDemo = (options: DemoOptions = {}): Promise<Demo> =>
  startDemo({ ticking: false, looks: 7, graceMs: 60, pace: async () => {}, ...options });

/** The engine as an object whose parts a test may replace. */
export const asPlainLive = (live: Live): Live => ({
  subscribe: listener => live.subscribe(listener),
  getState: () => live.getState(),
  treeHistory: key => live.treeHistory(key),
  history: key => live.history(key),
  proportionalMemory: pid => live.proportionalMemory(pid),
  plan: request => live.plan(request),
  run: (plan, request) => live.run(plan, request),
  cancel: () => live.cancel(),
  acknowledge: finding => live.acknowledge?.(finding) ?? '',
  takeBack: finding => live.takeBack?.(finding) ?? '',
  jump: target => live.jump(target),
  setInterval: seconds => live.setInterval(seconds),
  exportScreen: (extension, text) => live.exportScreen(extension, text),
  copyToTmux: async () => false,
  saveSettings: settings => live.saveSettings(settings),
  setAll: all => live.setAll(all),
  refresh: () => live.refresh(),
  stop: () => live.stop(),
});

/** The whole TUI in a terminal without a screen, on the invented machine, with time standing still. */
export const drive = async (columns: number, rows: number, options: DriveOptions = {}): Promise<Driven> => {
  const terminal = new HeadlessTerminal(columns, rows);
  const config = { ...(options.config ?? DEFAULT_CONFIG), level: options.level ?? 3 };
  const demo = options.demo ?? (await standingDemo({ ...options, config }));
  const live = { ...asPlainLive(demo.live), ...options.answering?.(demo.live) };
  const ended = runTui({
    live,
    options,
    ...terminal.stdio,
    env: options.env ?? { LANG: 'en_GB.UTF-8' },
    ...(options.stopSelf && { stopSelf: options.stopSelf }),
  });
  await terminal.settled();
  // A key's effect takes a promise or two (a plan, PSS), React's and Ink's own scheduling, and Esc the silence that
  // tells it from a sequence: over when three rounds of the loop went by without a write.
  const quiet = async (): Promise<void> => {
    let calm = 0;
    let seen = terminal.stdout.writes.length;
    while (calm < 3) {
      await new Promise(resolve => setTimeout(resolve, 14));
      await new Promise(resolve => setImmediate(resolve));
      await terminal.settled();
      calm = terminal.stdout.writes.length === seen ? calm + 1 : 0;
      seen = terminal.stdout.writes.length;
    }
  };
  const driven: Driven = {
    terminal,
    demo,
    ended,
    press: async (...names) => {
      for (const name of names) {
        const binding = BINDINGS.find(b => b.name === name)!;
        terminal.type(sent(binding.keys[0]!));
        await quiet();
      }
    },
    type: async chunk => {
      terminal.type(chunk);
      await quiet();
    },
    filterTo: async pid => {
      await driven.press('filter');
      await driven.type(String(pid));
      await driven.press('filter-keep');
    },
    close: async () => {
      terminal.type('\u0003');
      const code = await ended;
      await demo.live.stop();
      await terminal.settled();
      return code;
    },
  };
  await quiet();
  return driven;
};
