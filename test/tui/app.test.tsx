import { stripVTControlCharacters } from 'node:util';
import { Text } from 'ink';
import { render } from 'ink-testing-library';
import { Profiler, type ReactNode } from 'react';
import { describe, expect, test } from 'vitest';
import { Footer } from '../../src/tui/footer.tsx';
import { Header } from '../../src/tui/header.tsx';
import { Panel } from '../../src/tui/panels/panel.tsx';
import type { Screen, ScreenStore } from '../../src/tui/screen.ts';
import { Store } from '../../src/tui/store.ts';
import { TreeView } from '../../src/tui/tree/tree.tsx';
import { glyphsFor } from '../../src/tui/ui/glyphs.ts';
import { Line } from '../../src/tui/ui/line.tsx';
import { run } from '../../src/tui/ui/runs.ts';
import { THEMES, type Theme, type ThemeTone } from '../../src/tui/ui/theme.ts';
import { StoreContext, ThemeContext, useScreen } from '../../src/tui/ui/use-screen.ts';
import { standingDemo } from './drive.ts';

const demo = await standingDemo();

const storeOf = (columns = 90, rows = 24): Store =>
  new Store({
    live: demo.live,
    size: { columns, rows },
    glyphs: glyphsFor({ LANG: 'C.UTF-8' }),
    terminal: {
      setMouse: () => {},
      frame: () => [],
      copy: () => {},
      quit: () => {},
      suspend: () => {},
      redraw: () => {},
    },
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
  test('the header says how many agents there are and how much memory is reclaimable', () => {
    expect(alone(storeOf(), <Header />)).toMatch(/reaptop .*\n 8 agents {2}1 waiting {2}1 hung {2}9 leaked 3\.0G /);
  });

  test('the tree has the names of its columns and as many rows as the screen leaves it', () => {
    const store = storeOf();
    const rows = alone(store, <TreeView />).split('\n');
    expect(rows[1]).toMatch(/MARK +PID +TREE +CPU% +AGE NAME/);
    expect(rows).toHaveLength(3 + store.screen.layout.treeRows);
  });

  test('the panel has its tabs above it', () => {
    expect(alone(storeOf(), <Panel rows={4} />)).toMatch(/^╭─ Findings \d+ ─ Heartbeats \d+ ─ Asleep 2 ─ Log \d+ /);
  });

  test('the footer shows the keys', () => {
    expect(alone(storeOf(), <Footer />)).toContain('x end  f fix  c clean');
  });
});

const Part = ({ id, of }: { readonly id: string; readonly of: (screen: Screen) => string }): ReactNode => (
  <Text>{`${id} ${useScreen(of)}`}</Text>
);

describe('what did not change', () => {
  test('is not rendered again: a region reads only its own part', async () => {
    const store = new FakeStore(storeOf().screen);
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
    const store = new FakeStore(storeOf().screen);
    const painted: ThemeTone[] = [];
    const theme = new Proxy(THEMES.default, {
      get: (styles, tone: ThemeTone) => {
        painted.push(tone);
        return styles[tone];
      },
    }) as Theme;
    const Region = (): ReactNode => {
      const { view } = useScreen();
      return (
        <>
          <Line runs={[run('first', 'good')]} />
          <Line runs={[run(`sorted by ${view.sort}`, 'warn')]} />
          <Line runs={[run('last', 'bad')]} />
        </>
      );
    };
    const { unmount } = render(
      <StoreContext value={store}>
        <ThemeContext value={theme}>
          <Region />
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
