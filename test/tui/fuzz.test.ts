import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Demo } from '../../src/engine/demo.ts';
import type { Plan } from '../../src/model/plan.ts';
import { cells } from '../../src/model/text.ts';
import { BINDINGS } from '../../src/tui/keys/bindings.ts';
import { readKeystrokes } from '../../src/tui/keys/reader.ts';
import { Store } from '../../src/tui/store.ts';
import { glyphsFor } from '../../src/tui/ui/glyphs.ts';
import { asPlainLive, sent, standingDemo } from './drive.ts';
import { mount } from './mounted.tsx';
import { SGR } from './mouse-hand.ts';

/** Ends the program: tried elsewhere. */
const LEAVING = new Set(['q', 'ctrl-c', 'ctrl-z']);
const KEYS = [...new Set(BINDINGS.flatMap(b => b.keys))].filter(key => !LEAVING.has(key)).map(sent);

/** Narrower than this no terminal is: a row of the tree needs its mark, its verdict and a letter. */
const NARROWEST = 12;

const cell = fc.record({ column: fc.integer({ min: 0, max: 210 }), row: fc.integer({ min: 0, max: 55 }) });
const mouse = fc.oneof(
  cell.map(SGR.click),
  cell.map(at => SGR.click(at) + SGR.click(at)),
  cell.map(SGR.wheelUp),
  cell.map(SGR.wheelDown),
);
const key = fc.constantFrom(...KEYS);
/** What opens plans and what answers them, more often than chance would have it. */
const acting = fc.constantFrom('c', 'f', 'x', 'z', 'jx', 'y', 'y', 'y', 'yy');
const chunk = fc.oneof(
  { weight: 5, arbitrary: acting },
  { weight: 5, arbitrary: key },
  { weight: 3, arbitrary: mouse },
  { weight: 1, arbitrary: fc.array(fc.oneof(key, mouse), { maxLength: 6 }).map(all => all.join('')) },
  { weight: 1, arbitrary: fc.string({ maxLength: 6 }) },
);
const size = fc.record({
  columns: fc.integer({ min: NARROWEST, max: 220 }),
  rows: fc.integer({ min: 1, max: 60 }),
});
const event = fc.oneof(
  { weight: 12, arbitrary: chunk.map(bytes => ({ bytes })) },
  { weight: 2, arbitrary: size.map(to => ({ to })) },
  { weight: 2, arbitrary: fc.constant({ seconds: 2 }) },
  { weight: 3, arbitrary: fc.constantFrom(5, 10, 40).map(wait => ({ wait })) },
);

/** The screen on an invented machine, and what it had run. */
const screenOf = async (size: { columns: number; rows: number }) => {
  const demo: Demo = await standingDemo({ looks: 2 });
  const ran: Plan[] = [];
  const store = new Store({
    live: {
      ...asPlainLive(demo.live),
      exportScreen: async () => '/nowhere',
      run: (plan, request) => {
        ran.push(plan);
        return demo.live.run(plan, request);
      },
    },
    size,
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
  const screen = mount(store);
  const close = async (): Promise<void> => {
    await screen.unmount();
    store.stop();
    await demo.live.stop();
  };
  const read = (bytes: string, chunk: number): void =>
    screen.read(readKeystrokes(bytes, chunk).strokes.filter(({ key }) => !LEAVING.has(key)));
  return { demo, store, ran, close, read, lines: screen.lines };
};
const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

test('whatever is typed, clicked and resized: nothing breaks, no row is too wide, and nothing runs that was not confirmed', async () => {
  await fc.assert(
    fc.asyncProperty(size, fc.array(event, { maxLength: 50 }), async (first, events) => {
      const { demo, store, ran, close, read, lines } = await screenOf(first);
      let number = 0;
      for (const happens of events) {
        const before = ran.length;
        const { overlay } = store.view;
        const seen = overlay?.kind === 'plan' ? overlay : null;
        if ('bytes' in happens) {
          number += 1;
          read(happens.bytes, number);
          // What runs was on the screen, whole and seen, before this read: and the read began by answering it.
          if (ran.length > before) {
            expect(seen?.plan).toBe(ran.at(-1));
            expect(seen!.openedIn).toBeLessThan(number);
            expect(happens.bytes).toMatch(/y|\u001b\[<0;/);
          }
        } else if ('to' in happens) store.resize(happens.to);
        else if ('seconds' in happens) await demo.tick(happens.seconds);
        else await new Promise(resolve => setTimeout(resolve, happens.wait));
        await turn();
        for (const line of lines()) expect(cells(line)).toBeLessThanOrEqual(store.screen.layout.columns);
        if (ran.length === 0) expect(demo.system.delivered).toEqual([]);
      }
      await close();
    }),
    { numRuns: 40 },
  );
}, 120_000);

test('without y and without a click nothing is ever run, and nobody gets a signal', async () => {
  const without = fc
    .oneof(key, cell.map(SGR.wheelUp), cell.map(SGR.wheelDown))
    .filter(bytes => !bytes.includes('y'));
  await fc.assert(
    fc.asyncProperty(fc.array(without, { maxLength: 60 }), async chunks => {
      const { demo, ran, close, read } = await screenOf({ columns: 100, rows: 30 });
      for (const [i, bytes] of chunks.entries()) {
        read(bytes, i + 1);
        await turn();
      }
      await close();
      expect([ran, demo.system.delivered]).toEqual([[], []]);
    }),
    { numRuns: 25 },
  );
}, 60_000);
