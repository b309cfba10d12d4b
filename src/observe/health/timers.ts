import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TimerFacts } from '../../model/health.ts';
import { visible } from '../../model/text.ts';
import { readHead } from '../files/read-bounded.ts';

/** Nobody has more units of his own. */
const MOST_UNITS = 500;

const UNIT = /\.(?:service|timer)$/;

/** Timers of this user whose service runs `claude-refresh`, under whatever name. */
export const readRefreshTimers = (config: string): readonly TimerFacts[] => {
  const directory = join(config, 'systemd', 'user');
  let names: readonly string[];
  try {
    names = readdirSync(directory).filter(name => UNIT.test(name));
  } catch {
    return []; // no units of his own
  }
  const units = new Set<string>();
  for (const name of names.slice(0, MOST_UNITS)) {
    const read = readHead(join(directory, name), 16 * 1024);
    if (name.startsWith('claude-refresh.') || (read.ok && /^ExecStart=.*claude-refresh/m.test(read.text)))
      units.add(name.replace(UNIT, ''));
  }
  return [...units].sort().map(unit => {
    const timer = names.includes(`${unit}.timer`) ? `${unit}.timer` : `${unit}.service`;
    return {
      path: visible(join(directory, timer)),
      enabled: existsSync(join(directory, 'timers.target.wants', `${unit}.timer`)),
    };
  });
};
