import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { drive } from './drive.ts';
import { FRAMES, movingPicture, pictureFile } from './picture.ts';
import { SCENES } from './scenes.ts';
import { screenSvg } from './screen-svg.ts';

const screens = fileURLToPath(new URL('./__screens__/', import.meta.url));

const drawn = new Map<string, string>();

test.each(SCENES)('$name: $title', async scene => {
  const { name, title, columns, rows, press, until, afterwards = [], picture: wanted } = scene;
  const driven = await drive(columns, rows, { looks: 35, level: 2 });
  await driven.press(...press);
  if (until) await driven.terminal.until(until);
  await driven.press(...afterwards);
  const svg = screenSvg(driven.terminal, `reaptop: ${title}`);
  drawn.set(name, svg);
  await expect(`${driven.terminal.text()}\n`).toMatchFileSnapshot(`${screens}${name}.txt`);
  await expect(svg).toMatchFileSnapshot(pictureFile(name, wanted === true));
  expect(await driven.close()).toBe(130);
});

test('the moving picture of the README is made of these screens', async () => {
  const frames = FRAMES.map(name => drawn.get(name) ?? '');
  await expect(movingPicture(frames)).toMatchFileSnapshot(pictureFile('clearing', true));
});
