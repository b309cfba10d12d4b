/**
 * The README's moving picture, from the screens that the tests took of the real program: a leak on the screen, what is
 * wrong with it, the plan, the outcomes, and the tree without it. `node test/tui/moving-picture.mjs` after the screens changed.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const FRAMES = ['main', 'findings', 'plan', 'outcomes', 'cleared'].map(name => `${name}-100x30`);
const SECONDS = 3;
const WIDTH = 900;

const frames = FRAMES.map(name => {
  const svg = readFileSync(new URL(`./__screens__/${name}.svg`, import.meta.url), 'utf8');
  const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg);
  return { svg, width: Number(width), height: Number(height) };
});
const height = Math.ceil(Math.max(...frames.map(frame => (frame.height / frame.width) * WIDTH)));

/** Each is shown in its turn; where nothing moves, the first stays. */
const shown = ({ svg, width, height: tall }, turn) => {
  const inner = svg
    .slice(svg.indexOf('>') + 1, svg.lastIndexOf('</svg>'))
    .replace(/<title>.*?<\/title>/s, '');
  const values = FRAMES.map((_, other) => (other === turn ? 'visible' : 'hidden')).join(';');
  return `<g visibility="${turn === 0 ? 'visible' : 'hidden'}"><animate attributeName="visibility" values="${values}" dur="${FRAMES.length * SECONDS}s" calcMode="discrete" repeatCount="indefinite"/><svg width="${WIDTH}" height="${Math.ceil((tall / width) * WIDTH)}" viewBox="0 0 ${width} ${tall}">${inner}</svg></g>`;
};

writeFileSync(
  new URL('../../screenshots/clearing.svg', import.meta.url),
  `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img"><title>A leak is found and cleared</title><rect width="100%" height="100%" fill="#15181e"/>${frames.map(shown).join('\n')}</svg>\n`,
);
