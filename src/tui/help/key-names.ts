import type { Binding, Context } from '../keys/bindings.ts';

const NAMES: Readonly<Record<string, string>> = {
  up: '↑',
  down: '↓',
  left: '←',
  right: '→',
  pageup: 'PgUp',
  pagedown: 'PgDn',
  home: 'Home',
  end: 'End',
  enter: 'enter',
  escape: 'Esc',
  backspace: 'Backspace',
  delete: 'Del',
  f1: 'F1',
  f2: 'F2',
  f3: 'F3',
  f4: 'F4',
  f5: 'F5',
  f6: 'F6',
  f7: 'F7',
  f8: 'F8',
  f9: 'F9',
  f10: 'F10',
};

const ASCII_NAMES: Readonly<Record<string, string>> = {
  up: 'Up',
  down: 'Down',
  left: 'Left',
  right: 'Right',
};

/** A key as people read it: `ctrl-c` is `Ctrl-C`. */
export const keyName = (key: string, ascii = false): string => {
  if (key.startsWith('ctrl-')) return `Ctrl-${key.slice(5).toUpperCase()}`;
  if (key === 'shift-tab') return 'Shift-Tab';
  return (ascii ? ASCII_NAMES[key] : undefined) ?? NAMES[key] ?? key;
};

export const keyNames = (binding: Binding, ascii = false): string =>
  binding.keys.map(key => keyName(key, ascii)).join(' ');

export const CONTEXT_TITLES = {
  main: 'Main screen',
  filter: 'Filter',
  search: 'Search',
  plan: 'Plan',
  running: 'While a plan runs',
  signals: 'Signals',
  setup: 'Setup',
  export: 'Export',
  entry: 'An entry of the log',
  help: 'Help',
} satisfies Record<Context, string>;
