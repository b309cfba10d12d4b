import { plural } from '../../model/format.ts';
import { fail, type HealthCheck, ok, warn } from './check.ts';

/** Where processes are read from. */
export const proc: HealthCheck = ({ proc: found }) => {
  if (found.kind === 'none')
    return ok(`${found.platform} has no /proc: ps is used instead, which costs more and shows less`);
  if (found.kind === 'missing')
    return fail('/proc is not mounted: there is nothing to read', 'mount it: mount -t proc proc /proc');
  return found.hidepid === null
    ? ok('/proc is mounted and hides nobody')
    : warn(
        `/proc is mounted with hidepid=${found.hidepid}: processes of other users are not seen, nor their parents`,
        'verdicts hold for your own processes; to see all, mount it without hidepid or run in the group its gid= names',
      );
};

/** Shown at most: the rest is counted. */
const MOST_PIDS = 5;

/** Whether the table can be read, and the own processes in it looked into. */
export const processes: HealthCheck = ({ look }) => {
  if (!look.ok)
    return fail(`processes cannot be listed: ${look.why}`, 'nothing else can be trusted until they can');
  const seen = `${plural(look.processes, 'process', 'processes')}, ${plural(look.agents, 'agent')}`;
  if (look.closed.length > 0) {
    const shown = look.closed.slice(0, MOST_PIDS).join(', ');
    const more = look.closed.length > MOST_PIDS ? ' and more' : '';
    return warn(
      `${seen}; ${plural(look.closed.length, 'process', 'processes')} of your own cannot be looked into (${shown}${more})`,
      'their environment is closed (a setuid program, a sandbox, or kernel.yama): they are never called leaked by it',
    );
  }
  return ok(look.hidden > 0 ? `${seen}; ${look.hidden} belong to other users and are left alone` : seen);
};
