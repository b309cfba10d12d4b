import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Where a directory holds more, the figure is a lower bound, and said to be one. */
const MOST_ENTRIES = 20_000;

export interface DiskUse {
  readonly bytes: number;
  readonly cut: boolean;
}

/** What lies below a directory, links not followed; null when it is not there. */
export const diskUse = (directory: string): DiskUse | null => {
  const left = [directory];
  let bytes = 0;
  let entries = 0;
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    let names: string[];
    try {
      names = readdirSync(at);
    } catch {
      if (at === directory) return null;
      continue; // gone meanwhile, or closed to us
    }
    for (const name of names) {
      entries += 1;
      if (entries > MOST_ENTRIES) return { bytes, cut: true };
      const stat = lstatSync(join(at, name), { throwIfNoEntry: false });
      if (stat?.isDirectory()) left.push(join(at, name));
      else bytes += stat?.size ?? 0;
    }
  }
  return { bytes, cut: false };
};
