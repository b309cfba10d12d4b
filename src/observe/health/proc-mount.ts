import type { ProcFacts } from '../../model/health.ts';
import { visible } from '../../model/text.ts';
import { readText } from '../procfs/read.ts';

/** `hidepid=2` and `hidepid=invisible` are the same; 0 and off hide nothing. */
const hidingIn = (options: string): string | null => {
  const value = /(?:^|,)hidepid=([^,]+)/.exec(options)?.[1];
  return value === undefined || value === '0' || value === 'off' ? null : visible(value);
};

/** How /proc is mounted, from our own mount table. */
export const readProcMount = (platform: string, root = '/proc'): ProcFacts => {
  if (platform !== 'linux') return { kind: 'none', platform };
  const mounts = readText(`${root}/self/mountinfo`);
  if (mounts === null) return { kind: 'missing' };
  // 22 1 0:21 / /proc rw,nosuid shared:5 - proc proc rw,hidepid=2
  const proc = mounts
    .split('\n')
    .map(line => line.split(' '))
    .findLast(words => words[4] === '/proc' && words.includes('-'));
  const options = proc === undefined ? '' : `${proc.at(-1)},${proc[5]}`;
  return { kind: 'mounted', hidepid: hidingIn(options) };
};
