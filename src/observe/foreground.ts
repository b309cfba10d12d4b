import { readFileSync } from 'node:fs';
import { runCommand } from './run-command.ts';

interface Place {
  readonly group: number;
  readonly foreground: number;
}

/** Group, and the group in front on its terminal: fields 5 and 8 of stat, behind the last `)`. */
const fromStat = (pid: number): Place | null => {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = line
      .slice(line.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [group, foreground] = [fields[2], fields[5]];
    return group === undefined || foreground === undefined ? null : { group, foreground };
  } catch {
    return null; // gone, or there is no /proc here
  }
};

const TIMEOUT_MS = 2000;

const fromPs = async (pid: number): Promise<(Place & { readonly tty: string }) | null> => {
  const asked = await runCommand('ps', ['-o', 'pgid=,tpgid=,tty=', '-p', String(pid)], {
    timeoutMs: TIMEOUT_MS,
  });
  const found = asked.status === 'done' ? /^\s*(\d+)\s+(-?\d+)\s+(\S+)/.exec(asked.stdout) : null;
  return found === null ? null : { group: Number(found[1]), foreground: Number(found[2]), tty: found[3]! };
};

/** The process group in front on the terminal of this process; null: it cannot be told. */
export const foregroundGroup = async (pid: number): Promise<number | null> => {
  const place = process.platform === 'linux' ? fromStat(pid) : await fromPs(pid);
  return place === null || place.foreground <= 0 ? null : place.foreground;
};

/** Is it in front on this terminal, so that keys typed there go to it? null: it cannot be told. */
export const isInForeground = async (pid: number, tty: string): Promise<boolean | null> => {
  const place = process.platform === 'linux' ? fromStat(pid) : await fromPs(pid);
  if (place === null || place.group <= 0 || place.foreground <= 0) return null;
  if ('tty' in place && place.tty !== tty) return false;
  return place.group === place.foreground;
};
