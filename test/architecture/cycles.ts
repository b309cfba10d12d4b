import type { Source } from './sources.ts';

/** Files that reach themselves through their imports, as the knots they form (Tarjan's components), each sorted. */
export const knots = (sources: readonly Source[]): readonly (readonly string[])[] => {
  const byFile = new Map(sources.map(source => [source.file, source]));
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const open: string[] = [];
  const found: string[][] = [];
  const visit = (source: Source): void => {
    const { file } = source;
    order.set(file, order.size);
    low.set(file, order.get(file)!);
    open.push(file);
    for (const what of source.imports) {
      const next = byFile.get(what);
      if (next === undefined) continue;
      if (!order.has(what)) {
        visit(next);
        low.set(file, Math.min(low.get(file)!, low.get(what)!));
      } else if (open.includes(what)) low.set(file, Math.min(low.get(file)!, order.get(what)!));
    }
    if (low.get(file) !== order.get(file)) return;
    const knot = open.splice(open.indexOf(file)).sort();
    if (knot.length > 1 || source.imports.includes(file)) found.push(knot);
  };
  for (const source of sources) if (!order.has(source.file)) visit(source);
  return found;
};
