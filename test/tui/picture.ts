import { fileURLToPath } from 'node:url';

const screens = fileURLToPath(new URL('./__screens__/', import.meta.url));
const pictures = fileURLToPath(new URL('../../screenshots/', import.meta.url));

/** Where the picture of a scene is kept: the README's lie where it shows them, and nowhere else. */
export const pictureFile = (name: string, inReadme: boolean): string =>
  `${inReadme ? pictures : screens}${name}.svg`;

/** A leak on the screen, what is wrong with it, the plan, the outcomes, and the tree without it. */
export const FRAMES = ['main', 'findings', 'plan', 'outcomes', 'cleared'].map(name => `${name}-100x30`);
const SECONDS = 3;
const WIDTH = 900;

/** The README's moving picture: each is shown in its turn; where nothing moves, the first stays. */
export const movingPicture = (svgs: readonly string[]): string => {
  const frames = svgs.map(svg => {
    const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg)!;
    return { svg, box: `${width} ${height}`, tall: Math.ceil((Number(height) / Number(width)) * WIDTH) };
  });
  const height = Math.max(...frames.map(({ tall }) => tall));
  const shown = frames.map(({ svg, box, tall }, turn) => {
    const inner = svg
      .slice(svg.indexOf('>') + 1, svg.lastIndexOf('</svg>'))
      .replace(/<title>.*?<\/title>/s, '');
    const values = frames.map((_, other) => (other === turn ? 'visible' : 'hidden')).join(';');
    return `<g visibility="${turn === 0 ? 'visible' : 'hidden'}"><animate attributeName="visibility" values="${values}" dur="${frames.length * SECONDS}s" calcMode="discrete" repeatCount="indefinite"/><svg width="${WIDTH}" height="${tall}" viewBox="0 0 ${box}">${inner}</svg></g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img"><title>A leak is found and cleaned</title><rect width="100%" height="100%" fill="#15181e"/>${shown.join('\n')}</svg>\n`;
};
