import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { drive } from './drive.ts';
import { SCENES } from './scenes.ts';
import { screenSvg } from './screen-svg.ts';

const screens = new URL('./__screens__/', import.meta.url).pathname;
const pictures = new URL('../../screenshots/', import.meta.url).pathname;

/** `REAPTOP_PICTURES=1 npx vitest run … screens` also writes the README's pictures; look at each before committing it. */
const picture = async (name: string, svg: string): Promise<void> => {
  const { Resvg } = await import('@resvg/resvg-js');
  mkdirSync(pictures, { recursive: true });
  writeFileSync(`${pictures}${name}.svg`, svg);
  const png = new Resvg(svg, {
    font: { loadSystemFonts: true },
    fitTo: { mode: 'zoom', value: 1.5 },
  }).render();
  writeFileSync(`${pictures}${name}.png`, png.asPng());
};

test.each(SCENES)('$name: $title', async ({ name, title, columns, rows, press, until, picture: wanted }) => {
  const driven = await drive(columns, rows, { looks: 35 });
  await driven.press(...press);
  if (until) await driven.terminal.until(until);
  const svg = screenSvg(driven.terminal, `reaptop: ${title}`);
  if (process.env.REAPTOP_PICTURES === 'all' || (process.env.REAPTOP_PICTURES && wanted))
    await picture(name, svg);
  await expect(`${driven.terminal.text()}\n`).toMatchFileSnapshot(`${screens}${name}.txt`);
  await expect(svg).toMatchFileSnapshot(`${screens}${name}.svg`);
  expect(await driven.close()).toBe(130);
});
