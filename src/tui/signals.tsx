import type { ReactNode } from 'react';
import { SIGNALS } from '../model/plan-text.ts';
import { identityOf } from '../model/snapshot.ts';
import type { Action } from './keys/input.ts';
import { type KeyActions, useKeys } from './keys/use-keys.ts';
import type { SelectEntry } from './keys/use-mouse.ts';
import { openPlan } from './plan/plan-question.ts';
import type { Store } from './store.ts';
import { windowTop } from './tree/rows.ts';
import { bodyRows } from './ui/layout.ts';
import { Line } from './ui/line.tsx';
import { clickable, run, toWidth } from './ui/runs.ts';
import { LEAVES, Sheet } from './ui/sheet.tsx';
import { scrollText } from './ui/title-rule.tsx';
import { useScreen } from './ui/use-screen.ts';

/** The signals that may be sent; the plan comes next. */
export const Signals = (): ReactNode => {
  const screen = useScreen();
  const { layout, glyphs } = screen;
  useKeys('signals', SIGNALS_KEYS, LEAVES);
  const cursor = cursorOf(screen);
  // The selected one stays in view on the smallest screen, too.
  const room = bodyRows(screen) - 1;
  const from = windowTop(cursor, SIGNALS.length, room);
  const more = scrollText({ from, room, length: SIGNALS.length }, glyphs);
  return (
    <Sheet title="Choose a signal; the plan comes next" more={more} wheel="entries">
      {SIGNALS.slice(from, from + room).map(({ name, means }, i) => {
        const selected = from + i === cursor;
        const edge = run(selected ? ` ${glyphs.cursor}` : '  ', 'cursor');
        return (
          <Line
            key={name}
            runs={[
              clickable(edge, { entry: from + i }),
              run(toWidth(name, 9), selected ? 'selected' : name === 'SIGKILL' ? 'bad' : 'strong'),
              run(`  ${means}`, selected ? 'plain' : 'faint'),
            ]}
            width={layout.columns}
            selected={selected}
            onEntry={choose}
          />
        );
      })}
    </Sheet>
  );
};

const cursorOf = ({ view }: Pick<Store, 'view'>): number =>
  view.overlay?.kind === 'signals' ? view.overlay.cursor : 0;

const moveTo = (store: Store, to: number): void => {
  const cursor = (to + SIGNALS.length) % SIGNALS.length;
  store.dispatch({ type: 'overlay', overlay: { kind: 'signals', cursor } });
};

const choose: SelectEntry = (store, entry, { double }, type) => {
  moveTo(store, entry);
  if (double) type('enter');
};

const SIGNALS_KEYS: KeyActions<'signals'> = {
  'signals-up': store => moveTo(store, cursorOf(store) - 1),
  'signals-down': store => moveTo(store, cursorOf(store) + 1),
  'signals-choose': store => {
    const signal = SIGNALS[cursorOf(store)]!.name;
    openPlan(store, { act: 'signal', targets: store.targets.map(identityOf), signal });
  },
};

export const SIGNAL_KEY = {
  signal: store => store.dispatch({ type: 'overlay', overlay: { kind: 'signals', cursor: 0 } }),
} satisfies Record<string, Action>;
