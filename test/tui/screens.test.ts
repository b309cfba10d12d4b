import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { drive } from './drive.ts';
import { picture } from './picture.ts';
import { SCENES } from './scenes.ts';
import { screenSvg } from './screen-svg.ts';

const screens = fileURLToPath(new URL('./__screens__/', import.meta.url));

test.each(SCENES)('$name: $title', async scene => {
  const { name, title, columns, rows, press, until, afterwards = [], picture: wanted } = scene;
  const driven = await drive(columns, rows, { looks: 35, level: 2 });
  await driven.press(...press);
  if (until) await driven.terminal.until(until);
  await driven.press(...afterwards);
  const svg = screenSvg(driven.terminal, `reaptop: ${title}`);
  await picture(name, svg, wanted === true);
  await expect(`${driven.terminal.text()}\n`).toMatchFileSnapshot(`${screens}${name}.txt`);
  await expect(svg).toMatchFileSnapshot(`${screens}${name}.svg`);
  expect(await driven.close()).toBe(130);
});
