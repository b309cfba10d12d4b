import { KEY, Pty } from '../../support/pty.ts';
import { until } from '../../support/until.ts';
import { CLI, clean } from './product.ts';
import type { Stage } from './stage/stage.ts';

/** How a scene is cleared: headless, by a TUI that has just been opened, by one that watched everything. */
export const ENDINGS = ['clean', 'tui', 'tui-before'] as const;
export type Ending = (typeof ENDINGS)[number];

export interface Clearing {
  /** The runner's own processes besides itself. */
  readonly pid: number | null;
  clear(): Promise<void>;
}

const openTui = async (stage: Stage): Promise<Pty> => {
  const pty = new Pty(stage, {
    columns: 160,
    rows: 50,
    command: [process.execPath, CLI, '--interval', '0.5'],
    cwd: stage.path('work'),
  });
  await pty.shows(/agents?\b/);
  return pty;
};

const PLAN = 'Clean what is proven leaked';
const NO_LEAK = 'no process is proven leaked';

/** A leak counts when it was seen twice: the screen is given this long to count as many as there are. */
const COUNTED = { timeoutMs: 8_000 };

/** `c` and `y`, then until it says what became of them; or until it says that there is nothing to clear. */
const clearWith = async (pty: Pty, leaks: number): Promise<void> => {
  const count = new RegExp(`\\b${leaks} leaked`);
  await until('the leaks to be counted', () => count.test(pty.text()), COUNTED).catch(() => {});
  pty.press('c');
  await pty.until('a plan, or a word that there is none', () =>
    [PLAN, NO_LEAK].some(text => pty.text().includes(text)),
  );
  if (pty.text().includes(PLAN)) {
    await pty.confirm();
    await pty.shows('Done');
    pty.press(KEY.escape);
    await pty.hides('Done');
  }
  pty.press('q');
  await pty.exit();
};

export const prepare = async (stage: Stage, ending: Ending, leaks: () => number): Promise<Clearing> => {
  if (ending === 'clean')
    return {
      pid: null,
      clear: async () => {
        await clean(stage, true);
      },
    };
  const early = ending === 'tui-before' ? await openTui(stage) : null;
  return {
    pid: early?.pid ?? null,
    clear: async () => clearWith(early ?? (await openTui(stage)), leaks()),
  };
};
