import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const pictures = fileURLToPath(new URL('../../screenshots/', import.meta.url));

/**
 * `REAPTOP_PICTURES=1 npx vitest run … test/tui/` also writes the README's pictures, `all` those of every scene; look at
 * each before committing it.
 */
export const picture = async (name: string, svg: string, wanted = true): Promise<void> => {
  if (!process.env.REAPTOP_PICTURES || (process.env.REAPTOP_PICTURES !== 'all' && !wanted)) return;
  const { Resvg } = await import('@resvg/resvg-js');
  mkdirSync(pictures, { recursive: true });
  writeFileSync(`${pictures}${name}.svg`, svg);
  const png = new Resvg(svg, {
    font: { loadSystemFonts: true },
    fitTo: { mode: 'zoom', value: 1.5 },
  }).render();
  writeFileSync(`${pictures}${name}.png`, png.asPng());
};
