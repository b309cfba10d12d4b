import '../plain-environment.ts';

import { stripVTControlCharacters } from 'node:util';
import { Text } from 'ink';
import { render } from 'ink-testing-library';
import { Profiler, type ReactNode } from 'react';
import { describe, expect, test } from 'vitest';
import { Footer } from '../../../src/tui/components/footer.tsx';
import { Header } from '../../../src/tui/components/header.tsx';
import { Panel } from '../../../src/tui/components/panel.tsx';
import { Rows } from '../../../src/tui/components/row.tsx';
import { Tree } from '../../../src/tui/components/tree.tsx';
import { StoreContext, ThemeContext, useScreen } from '../../../src/tui/components/use-screen.ts';
import { Controller } from '../../../src/tui/controller.ts';
import { glyphsFor } from '../../../src/tui/look/glyphs.ts';
import { THEMES, type Theme, type Tone } from '../../../src/tui/look/theme.ts';
import { type Line, run } from '../../../src/tui/view/line.ts';
import type { Screen, ScreenStore } from '../../../src/tui/view/screen.ts';
import { world } from '../../support/world.ts';
import { standingDemo } from '../drive.ts';

const demo = await standingDemo();

const controller = (columns = 90, rows = 24): Controller =>
  new Controller({
    live: demo.live,
    size: { columns, rows },
    glyphs: glyphsFor({ LANG: 'C.UTF-8' }),
    quit: () => {},
    suspend: () => {},
    redraw: () => {},
  });

/** A store whose screen the test replaces. */
class FakeStore implements ScreenStore {
  readonly #listeners = new Set<() => void>();
  #screen: Screen;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly getScreen = (): Screen => this.#screen;

  async show(change: Partial<Screen>): Promise<void> {
    this.#screen = { ...this.#screen, ...change };
    for (const listener of this.#listeners) listener();
    await new Promise(resolve => setTimeout(resolve, 0));
  }
}

const alone = (store: ScreenStore, region: ReactNode): string => {
  const { lastFrame, unmount } = render(<StoreContext value={store}>{region}</StoreContext>);
  const frame = stripVTControlCharacters(lastFrame() ?? '');
  unmount();
  return frame;
};

describe('a region alone', () => {
  test('the header says how many agents there are and what could be had back', () => {
    expect(alone(controller(), <Header />)).toMatch(/reaptop .*\n.*agents .*9 leaked, 3\.0G reclaimable/);
  });

  test('the header counts a build that re-executes itself once, as finding and plan do', () => {
    const { snapshot } = world([
      [1000, 80_001, 'lake build'],
      [1001, 1000, 'lake.orig build'],
    ]);
    const { screen } = controller(200);
    expect(alone(new FakeStore({ ...screen, snapshot }), <Header />)).toMatch(/ 1 build\s*$/);
  });

  test('the tree has the names of its columns and as many rows as the screen leaves it', () => {
    const store = controller();
    const rows = alone(store, <Tree />).split('\n');
    expect(rows[0]).toMatch(/PID +MEM +CPU% +AGE S NAME/);
    expect(rows).toHaveLength(1 + store.layout.treeRows);
  });

  test('the panel has its tabs above it', () => {
    expect(alone(controller(), <Panel />)).toMatch(/^─ Findings \d+ ─ Heartbeats \d+ ─ Log \d+ /);
  });

  test('the footer shows the keys', () => {
    expect(alone(controller(), <Footer />)).toContain('x end  f fix  c clean');
  });
});

const Part = ({ id, of }: { readonly id: string; readonly of: (screen: Screen) => string }): ReactNode => (
  <Text>{`${id} ${useScreen(of)}`}</Text>
);

describe('what did not change', () => {
  test('is not rendered again: a region reads only its own part', async () => {
    const store = new FakeStore(controller().screen);
    const renders: string[] = [];
    const { lastFrame, unmount } = render(
      <StoreContext value={store}>
        <Profiler id="filter" onRender={id => renders.push(id)}>
          <Part id="filter" of={({ view }) => view.filter} />
        </Profiler>
        <Profiler id="sort" onRender={id => renders.push(id)}>
          <Part id="sort" of={({ view }) => view.sort} />
        </Profiler>
      </StoreContext>,
    );
    expect(renders).toEqual(['filter', 'sort']);
    await store.show({ view: { ...store.getScreen().view, filter: 'lean' } });
    expect(renders).toEqual(['filter', 'sort', 'filter']);
    expect(lastFrame()).toBe('filter lean\nsort start');
    unmount();
  });

  test('is not painted again: a row is memoised by its content', async () => {
    const store = new FakeStore(controller().screen);
    const painted: Tone[] = [];
    const theme = new Proxy(THEMES.default, {
      get: (styles, tone: Tone) => {
        painted.push(tone);
        return styles[tone];
      },
    }) as Theme;
    const of = ({ view }: Screen): readonly Line[] => [
      [run('first', 'good')],
      [run(`sorted by ${view.sort}`, 'warn')],
      [run('last', 'bad')],
    ];
    const { unmount } = render(
      <StoreContext value={store}>
        <ThemeContext value={theme}>
          <Rows of={of} />
        </ThemeContext>
      </StoreContext>,
    );
    expect(new Set(painted)).toEqual(new Set(['good', 'warn', 'bad']));
    painted.length = 0;
    await store.show({ view: { ...store.getScreen().view, filter: 'x' } });
    expect(painted).toEqual([]);
    await store.show({ view: { ...store.getScreen().view, sort: 'memory' } });
    expect(new Set(painted)).toEqual(new Set(['warn']));
    unmount();
  });
});
