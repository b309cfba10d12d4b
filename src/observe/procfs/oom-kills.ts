import { readText } from './read.ts';

/** How often the kernel has killed because memory ran out since boot (Linux 4.13 and later); null when it does not say. */
export const readOomKills = (root = '/proc'): number | null => {
  const match = /^oom_kill (\d+)$/m.exec(readText(`${root}/vmstat`) ?? '');
  return match?.[1] === undefined ? null : Number(match[1]);
};
