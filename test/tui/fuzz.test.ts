import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Demo } from '../../src/live/demo.ts';
import type { Plan } from '../../src/model/plan.ts';
import { footerLines } from '../../src/tui/content/footer.ts';
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
import { asPlainLive, sent, standingDemo } from './drive.ts';
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

/** Every region of the screen, drawn. */
const drawn = (controller: Controller): readonly (readonly [number, number])[] => {
  const { screen } = controller;
  const rows = bodyRows(screen);
  const { overlay } = screen.view;
  const sheet = overlay && SHEETS[overlay.kind];
  const body = sheet
    ? sheet(screen, rows)
    : [...treeLines(screen), ...panelLines(screen, screen.layout.panelRows)];
  return [...headerLines(screen), ...body, ...footerLines(screen)].map(
    line => [lineWidth(line), screen.layout.columns] as const,
  );
};

/** The screen on an invented machine, and what it had run. */
const screenOf = async (size: { columns: number; rows: number }) => {
  const demo: Demo = await standingDemo({ looks: 2 });
  const ran: Plan[] = [];
  const controller = new Controller({
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
    quit: () => {},
    suspend: () => {},
    redraw: () => {},
  });
  const close = async (): Promise<void> => {
    controller.stop();
    await demo.live.stop();
  };
  return { demo, controller, ran, close };
};
const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

test('whatever is typed, clicked and resized: nothing breaks, no row is too wide, and nothing runs that was not confirmed', async () => {
  await fc.assert(
    fc.asyncProperty(size, fc.array(event, { maxLength: 50 }), async (first, events) => {
      const { demo, controller, ran, close } = await screenOf(first);
      let number = 0;
      for (const happens of events) {
        const before = ran.length;
        const { overlay } = controller.view;
        const seen = overlay?.kind === 'plan' ? overlay : null;
        if ('bytes' in happens) {
          number += 1;
          for (const stroke of readKeystrokes(happens.bytes, number).strokes)
            if (!LEAVING.has(stroke.key)) controller.key(stroke);
          // What runs was on the screen, whole and seen, before this read: and the read began by answering it.
          if (ran.length > before) {
            expect(seen?.plan).toBe(ran.at(-1));
            expect(seen!.openedIn).toBeLessThan(number);
            expect(happens.bytes).toMatch(/y|\u001b\[<0;/);
          }
        } else if ('to' in happens) controller.resize(happens.to);
        else if ('seconds' in happens) await demo.tick(happens.seconds);
        else await new Promise(resolve => setTimeout(resolve, happens.wait));
        await turn();
        for (const [width, columns] of drawn(controller)) expect(width).toBeLessThanOrEqual(columns);
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
      const { demo, controller, ran, close } = await screenOf({ columns: 100, rows: 30 });
      for (const [i, bytes] of chunks.entries()) {
        for (const stroke of readKeystrokes(bytes, i + 1).strokes)
          if (!LEAVING.has(stroke.key)) controller.key(stroke);
        await turn();
      }
      await close();
      expect([ran, demo.system.delivered]).toEqual([[], []]);
    }),
    { numRuns: 25 },
  );
}, 60_000);
