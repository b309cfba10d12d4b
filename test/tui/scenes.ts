import type { BindingName } from '../../src/tui/keys/bindings.ts';

/** The main screens: each is a size and the bindings pressed to get there. */
export interface Scene {
  readonly name: string;
  readonly title: string;
  readonly columns: number;
  readonly rows: number;
  readonly press: readonly BindingName[];
  /** Wait until the screen shows this. */
  readonly until?: string;
  /** And only then press these. */
  readonly afterwards?: readonly BindingName[];
  /** The README shows its picture. */
  readonly picture?: boolean;
}

export const SCENES: readonly Scene[] = [
  { name: 'main-200x50', title: 'The main screen, wide', columns: 200, rows: 50, press: [] },
  {
    name: 'main-120x40',
    title: 'The main screen at 120×40',
    columns: 120,
    rows: 40,
    press: [],
    picture: true,
  },
  { name: 'side-60x40', title: 'The side pane: 60 columns', columns: 60, rows: 40, press: [], picture: true },
  { name: 'main-80x24', title: 'The main screen at 80×24', columns: 80, rows: 24, press: ['down', 'down'] },
  { name: 'main-40x10', title: 'The smallest screen', columns: 40, rows: 10, press: ['down'] },
  {
    name: 'plan-100x30',
    title: 'A plan about to run',
    columns: 100,
    rows: 30,
    press: ['clean'],
  },
  { name: 'plan-60x40', title: 'A plan in the side pane', columns: 60, rows: 40, press: ['clean'] },
  {
    name: 'detail-200x50',
    title: 'The detail pane beside the tree',
    columns: 200,
    rows: 50,
    press: ['next-finding', 'next-finding', 'next-finding', 'next-finding', 'detail'],
  },
  {
    name: 'detail-60x40',
    title: 'The detail pane in a side pane',
    columns: 60,
    rows: 40,
    press: ['next-finding', 'next-finding', 'next-finding', 'next-finding', 'detail'],
  },
  {
    name: 'detail-80x24',
    title: 'The detail pane at 80×24',
    columns: 80,
    rows: 24,
    press: ['next-finding', 'detail'],
  },
  {
    name: 'findings-120x40',
    title: 'The findings panel',
    columns: 120,
    rows: 40,
    press: ['next-panel', 'down'],
    picture: true,
  },
  {
    name: 'heartbeats-80x24',
    title: 'The heartbeats panel',
    columns: 80,
    rows: 24,
    press: ['next-panel', 'next-panel'],
  },
  {
    name: 'fix-100x30',
    title: 'What mends a finding, about to run',
    columns: 100,
    rows: 30,
    press: ['next-panel', 'end', 'up', 'up', 'up', 'up', 'fix'],
  },
  {
    name: 'hung-120x18',
    title: 'A call that hangs, and the plan that frees its session',
    columns: 120,
    rows: 18,
    press: ['down', 'down', 'fix'],
    picture: true,
  },
  {
    name: 'asleep-120x40',
    title: 'Sessions asleep: at the end of the list, and in their panel',
    columns: 120,
    rows: 40,
    press: ['level-1', 'next-panel', 'next-panel', 'next-panel'],
    picture: true,
  },
  { name: 'list-120x40', title: 'One list, the biggest first', columns: 120, rows: 40, press: ['by-memory'] },
  { name: 'list-60x40', title: 'The same in a side pane', columns: 60, rows: 40, press: ['by-memory'] },
  { name: 'projects-80x24', title: 'Grouped by project', columns: 80, rows: 24, press: ['grouping'] },
  { name: 'projects-200x50', title: 'Grouped by project, wide', columns: 200, rows: 50, press: ['grouping'] },
  {
    name: 'fix-40x10',
    title: 'The same on the smallest screen',
    columns: 40,
    rows: 10,
    press: ['down', 'fix'],
  },
  {
    name: 'entry-80x24',
    title: 'An act of the log',
    columns: 80,
    rows: 24,
    press: ['previous-panel', 'end', 'detail'],
  },
  { name: 'log-80x24', title: 'The log panel', columns: 80, rows: 24, press: ['previous-panel'] },
  {
    name: 'help-100x40',
    title: 'Help, made from the table of keys',
    columns: 100,
    rows: 40,
    press: ['help'],
  },
  {
    name: 'signals-80x24',
    title: 'Choosing a signal',
    columns: 80,
    rows: 24,
    press: ['down', 'signal', 'signals-down'],
  },
  { name: 'setup-120x40', title: 'The setup screen', columns: 120, rows: 40, press: ['setup', 'setup-down'] },
  { name: 'setup-40x10', title: 'The setup screen, small', columns: 40, rows: 10, press: ['setup'] },
  {
    name: 'outcomes-100x30',
    title: 'Outcomes, row by row',
    columns: 100,
    rows: 30,
    press: ['clean', 'go'],
    until: '1 waiting  1 hung  3 suspects', // the look after the last outcome
  },
  // The rest of the moving picture, which does not change its size.
  { name: 'main-100x30', title: 'A leak on the screen', columns: 100, rows: 30, press: [] },
  {
    name: 'findings-100x30',
    title: 'The finding that names it',
    columns: 100,
    rows: 30,
    press: ['next-panel'],
  },
  {
    name: 'cleared-100x30',
    title: 'The tree without it',
    columns: 100,
    rows: 30,
    press: ['clean', 'go'],
    until: '1 waiting  1 hung  3 suspects',
    afterwards: ['running-leave'],
  },
];
