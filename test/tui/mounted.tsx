import { EventEmitter } from 'node:events';
import { stripVTControlCharacters } from 'node:util';
import { Box, type DOMElement, type Instance, render } from 'ink';
import { act, createRef, type ReactNode } from 'react';
import { afterEach } from 'vitest';
import { App } from '../../src/tui/app.tsx';
import { Input } from '../../src/tui/keys/input.ts';
import type { Keystroke } from '../../src/tui/keys/reader.ts';
import type { Screen, ScreenStore } from '../../src/tui/screen.ts';
import type { Store } from '../../src/tui/store.ts';
import { StoreContext } from '../../src/tui/ui/use-screen.ts';

/** Takes what is written to nowhere: Ink's own painting costs more than all the rest. */
class Nowhere extends EventEmitter {
  readonly isTTY = true;
  readonly columns = 500;
  readonly rows = 500;
  write(): boolean {
    return true;
  }
}

const OPTIONS = { maxFps: 0.001, exitOnCtrlC: false, patchConsole: false } as const;

type DOMNode = DOMElement['childNodes'][number];

const textOf = (node: DOMNode): string =>
  node.nodeName === '#text' ? node.nodeValue : node.childNodes.map(textOf).join('');

/** The rows below an element as Yoga laid them out; what comes later covers what came before. */
const linesOf = (root: DOMElement): readonly string[] => {
  const lines: string[] = [];
  const draw = (node: DOMElement, left: number, top: number): void => {
    const [x, y] = [left + node.yogaNode!.getComputedLeft(), top + node.yogaNode!.getComputedTop()];
    if (node.nodeName === 'ink-text') {
      for (const [down, text] of stripVTControlCharacters(textOf(node)).split('\n').entries()) {
        const line = (lines[y + down] ?? '').padEnd(x);
        lines[y + down] = line.slice(0, x) + text + line.slice(x + text.length);
      }
    } else
      for (const child of node.childNodes) if (child.nodeName !== '#text') draw(child as DOMElement, x, y);
  };
  draw(root, 0, 0);
  return Array.from(lines, line => (line ?? '').trimEnd());
};

const mounted: Instance[] = [];

/** Rejects with what a component threw. In this order Ink takes its listener off the process again. */
const closed = (ink: Instance): Promise<unknown> => {
  const ended = ink.waitUntilExit();
  ink.unmount();
  return ended;
};

afterEach(async () => {
  for (const ink of mounted.splice(0)) await closed(ink);
});

/** Lets React finish what this began, before it returns. */
export const settling = (change: () => void): void => {
  const env = globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean };
  env.IS_REACT_ACT_ENVIRONMENT = true;
  try {
    act(() => {
      change();
    });
  } finally {
    env.IS_REACT_ACT_ENVIRONMENT = false;
  }
};

const show = (tree: ReactNode): (() => readonly string[]) => {
  const root = createRef<DOMElement>();
  const stdout = new Nowhere() as unknown as NodeJS.WriteStream;
  settling(() => {
    mounted.push(
      render(
        <Box ref={root} flexDirection="column">
          {tree}
        </Box>,
        { ...OPTIONS, stdout },
      ),
    );
  });
  return () => (root.current ? linesOf(root.current) : []);
};

/** A component alone, on a screen that does not change. */
export const painted = (screen: Screen, region: ReactNode): readonly string[] => {
  const store: ScreenStore = { subscribe: () => () => {}, getScreen: () => screen };
  return show(<StoreContext value={store}>{region}</StoreContext>)();
};

/** The whole screen without a terminal: keys and the mouse go to the components that are on it. */
export const mount = (store: Store) => {
  const input = new Input(store);
  return {
    /** The rows as they are shown. */
    lines: show(<App store={store} input={input} />),
    key: (stroke: Keystroke): void => settling(() => input.key(stroke)),
    /** Several keys of one read: React does not render in between. */
    read: (strokes: readonly Keystroke[]): void =>
      settling(() => {
        for (const stroke of strokes) input.key(stroke);
      }),
    unmount: async (): Promise<void> => {
      for (const ink of mounted.splice(0)) await closed(ink);
    },
  };
};
