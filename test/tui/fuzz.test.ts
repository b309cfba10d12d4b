import fc from 'fast-check';
import { expect, test } from 'vitest';
import { demoLive } from '../../src/live/demo/demo.ts';
import { footerLine } from '../../src/tui/content/footer.ts';
import { headerLines } from '../../src/tui/content/header.ts';
import { panelLines } from '../../src/tui/content/panel.ts';
import { SHEETS } from '../../src/tui/content/sheets.ts';
import { treeLines } from '../../src/tui/content/tree.ts';
import { Controller } from '../../src/tui/controller.ts';
import { BINDINGS } from '../../src/tui/keys/keymap.ts';
import { readKeystrokes } from '../../src/tui/keys/reader.ts';
import { glyphsFor } from '../../src/tui/look/glyphs.ts';
import { bodyRows } from '../../src/tui/view/layout.ts';
import { lineWidth } from '../../src/tui/view/line.ts';
import { sent } from './drive.ts';
import { SGR } from './mouse-hand.ts';

/** Ends the program: tried elsewhere. */
const LEAVING = new Set(['q', 'ctrl-c', 'ctrl-z']);
const KEYS = [...new Set(BINDINGS.flatMap(b => b.keys))].filter(key => !LEAVING.has(key)).map(sent);

const cell = fc.record({ column: fc.integer({ min: 0, max: 210 }), row: fc.integer({ min: 0, max: 55 }) });
const mouse = fc.oneof(
  cell.map(SGR.click),
  cell.map(at => SGR.click(at) + SGR.click(at)),
  cell.map(SGR.wheelUp),
  cell.map(SGR.wheelDown),
);
const key = fc.constantFrom(...KEYS);
const chunk = fc.oneof(
  { weight: 5, arbitrary: key },
  { weight: 3, arbitrary: mouse },
  { weight: 1, arbitrary: fc.array(fc.oneof(key, mouse), { maxLength: 6 }).map(all => all.join('')) },
  { weight: 1, arbitrary: fc.string({ maxLength: 6 }) },
);
const size = fc.record({ columns: fc.integer({ min: 1, max: 220 }), rows: fc.integer({ min: 1, max: 60 }) });
const event = fc.oneof(
  { weight: 12, arbitrary: chunk.map(bytes => ({ bytes })) },
  { weight: 2, arbitrary: size.map(to => ({ to })) },
  { weight: 2, arbitrary: fc.constant({ seconds: 2 }) },
  { weight: 2, arbitrary: fc.constant({ wait: true }) },
);

/** Below this Ink cuts the rows: nobody can read them anyway. */
const NARROWEST = 12;

/** Every region of the screen, drawn. */
const drawn = (controller: Controller): readonly (readonly [number, number])[] => {
  const { screen } = controller;
  const rows = bodyRows(screen);
  const { overlay } = screen.view;
  const sheet = overlay && SHEETS[overlay.kind];
  const body = sheet
    ? sheet(screen, rows)
    : [...treeLines(screen), ...panelLines(screen, screen.layout.panelRows)];
  return [...headerLines(screen), ...body, footerLine(screen)].map(
    line => [lineWidth(line), screen.layout.columns] as const,
  );
};

test('whatever is typed, clicked and resized: nothing breaks, no row is too wide, and nothing runs that was not confirmed', async () => {
  await fc.assert(
    fc.asyncProperty(size, fc.array(event, { maxLength: 60 }), async (first, events) => {
      const live = demoLive({ ticking: false, pace: async () => {} });
      const controller = new Controller({
        live: { ...live, exportScreen: async () => '/nowhere' },
        size: first,
        glyphs: glyphsFor({ LANG: 'C.UTF-8' }),
        quit: () => {},
        suspend: () => {},
        redraw: () => {},
      });
      let number = 0;
      for (const happens of events) {
        const ran = live.ran.length;
        const { overlay } = controller.view;
        const seen = overlay?.kind === 'plan' ? overlay : null;
        if ('bytes' in happens) {
          number += 1;
          const { strokes } = readKeystrokes(happens.bytes, number);
          for (const stroke of strokes) if (!LEAVING.has(stroke.key)) controller.key(stroke);
          // What runs was on the screen, whole and seen, before this read: and the read began by answering it.
          if (live.ran.length > ran) {
            expect(seen?.plan).toBe(live.ran.at(-1));
            expect(seen!.openedIn).toBeLessThan(number);
            expect(happens.bytes).toMatch(/y|\u001b\[<0;/);
          }
        } else if ('to' in happens) controller.resize(happens.to);
        else if ('seconds' in happens) live.tick(happens.seconds);
        else await new Promise(resolve => setTimeout(resolve, 30));
        await new Promise(resolve => setImmediate(resolve));
        for (const [width, columns] of drawn(controller))
          expect(width).toBeLessThanOrEqual(Math.max(columns, NARROWEST));
      }
      controller.stop();
      await live.stop();
    }),
    { numRuns: 60 },
  );
}, 120_000);

test('without y and without a click nothing is ever run', async () => {
  const without = fc
    .oneof(key, cell.map(SGR.wheelUp), cell.map(SGR.wheelDown))
    .filter(bytes => !/y/.test(bytes));
  await fc.assert(
    fc.asyncProperty(fc.array(without, { maxLength: 80 }), async chunks => {
      const live = demoLive({ ticking: false, pace: async () => {} });
      const controller = new Controller({
        live: { ...live, exportScreen: async () => '/nowhere' },
        size: { columns: 100, rows: 30 },
        glyphs: glyphsFor({}),
        quit: () => {},
        suspend: () => {},
        redraw: () => {},
      });
      for (const [i, bytes] of chunks.entries()) {
        for (const stroke of readKeystrokes(bytes, i + 1).strokes)
          if (!LEAVING.has(stroke.key)) controller.key(stroke);
        await new Promise(resolve => setImmediate(resolve));
      }
      controller.stop();
      expect(live.ran).toEqual([]);
    }),
    { numRuns: 60 },
  );
}, 60_000);
