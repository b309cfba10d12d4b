import type { NamedEnv, ProcessDetails, ProcessFacts } from '../../model/process.ts';
import { splitWords } from '../../model/words.ts';
import { TABLE } from './table.ts';

/** A fixed moment, so that screens are the same in every run. */
export const INVENTED_NOW = Date.UTC(2026, 0, 15, 9, 30);
/** Seconds since this machine was started. */
export const INVENTED_CLOCK = 30 * 86_400;
export const INVENTED_UID = 1000;
export const INVENTED_HOME = '/home/ada';
export const INVENTED_SELF = 9999;

/** The pids below this belong to the system. */
const FIRST_USER_PID = 1000;
const MIB = 1024 ** 2;

/** One row of the table. */
export interface InventedProcess {
  readonly pid: number;
  readonly ppid: number;
  readonly mib: number;
  readonly swap: number;
  /** Percent of a core while it works. */
  readonly cpu: number;
  /** Seconds at the fixed moment. */
  readonly age: number;
  readonly state: string;
  readonly tty: string | null;
  readonly cwd: string | null;
  readonly argv: readonly string[];
}

/** The sessions whose leftovers run on. */
const ENDED = '5b1e9c40-77aa-4d0e-9a53-2c4f6f1d0a11';
const startedBy = (sessionId: string): NamedEnv => ({ CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: sessionId });

const ENVIRONMENTS: Readonly<Record<number, NamedEnv>> = {
  3310: startedBy(ENDED),
  3331: startedBy(ENDED),
  3505: startedBy(ENDED),
  3520: startedBy(ENDED),
  3533: startedBy(ENDED),
  3701: startedBy(ENDED),
  4001: { CLAUDE_CODE_ENTRYPOINT: 'claude-vscode' },
};

/** TCP ports, and nobody connected. */
const LISTENING: Readonly<Record<number, readonly number[]>> = { 3701: [5173], 640: [2375] };

/** MiB a minute, for the one that grows while you watch. */
const GROWING: Readonly<Record<number, number>> = { 1550: 48 };

const COMMS: Readonly<Record<string, string>> = { '/sbin/init': 'systemd', tmux: 'tmux: server' };

/** The kernel's name of a process: what was executed, without its path. */
const commOf = (program: string): string =>
  COMMS[program] ??
  program
    .slice(program.lastIndexOf('/') + 1)
    .replace(/^-|:$/g, '')
    .slice(0, 15);

const atHome = (text: string): string => text.replaceAll('~', INVENTED_HOME);

const UNITS: Readonly<Record<string, number>> = { d: 86_400, h: 3600, m: 60, s: 1 };

/** `1d03h` in seconds. */
const secondsOf = (age: string): number =>
  [...age.matchAll(/(\d+)([dhms])/g)].reduce((sum, [, n, unit]) => sum + Number(n) * UNITS[unit!]!, 0);

const parseRow = (row: string): InventedProcess => {
  const cell = row.split('|').map(text => text.trim());
  const [pid, ppid, mib, swap, cpu, age, state, tty, cwd, command] = cell as [
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  return {
    pid: Number(pid),
    ppid: Number(ppid),
    mib: Number(mib),
    swap: Number(swap),
    cpu: Number(cpu),
    age: secondsOf(age),
    state,
    tty: tty === '' ? null : tty,
    cwd: cwd === '' ? null : atHome(cwd),
    argv: splitWords(atHome(command)),
  };
};

export const INVENTED_PROCESSES: readonly InventedProcess[] = TABLE.trim().split('\n').map(parseRow);

export const startOf = ({ age, pid }: InventedProcess): string =>
  String((INVENTED_CLOCK - age) * 100 + (pid % 100));

/** Memory in MiB, `elapsed` seconds after the fixed moment: growing for those that grow, breathing for those at work. */
const mibAt = (p: InventedProcess, elapsed: number): number => {
  const breath = p.cpu === 0 ? 0 : (((Math.floor(elapsed / 10) + p.pid) % 7) - 3) / 800;
  return (p.mib + ((GROWING[p.pid] ?? 0) * elapsed) / 60) * (1 + breath);
};

const detailsOf = (p: InventedProcess): ProcessDetails => {
  const ports = LISTENING[p.pid];
  return {
    cwd: p.cwd,
    swap: p.swap * MIB,
    cgroup: '',
    stdin: p.tty !== null ? 'tty' : p.ppid === 1 ? 'abandoned-socket' : 'pipe',
    lostTerminal: false,
    ignoresHangup: false,
    io: 0,
    listening: { ports: ports ?? [], clients: 0 },
    uses: [],
  };
};

export const bytesOf = (p: InventedProcess, elapsed: number): number => Math.round(mibAt(p, elapsed) * MIB);

/** What a backend would read of it at that moment; those at work are a little busier now, a little less then. */
export const factsOf = (p: InventedProcess, elapsed: number): ProcessFacts => {
  const wobble = p.cpu === 0 || p.cpu >= 90 ? 0 : ((Math.floor(elapsed) + p.pid) % 3) - 1;
  const [program = ''] = p.argv;
  return {
    pid: p.pid,
    start: startOf(p),
    ppid: p.ppid,
    pgid: p.pid,
    sid: p.pid,
    uid: p.pid < FIRST_USER_PID ? 0 : INVENTED_UID,
    tty: p.tty,
    state: p.state,
    kernelThread: false,
    unreadable: false,
    born: INVENTED_CLOCK - p.age,
    cpuSeconds: p.age / 50 + (p.cpu * elapsed) / 100,
    cpu: p.cpu === 0 ? 0 : Math.max(1, p.cpu + wobble),
    rss: bytesOf(p, elapsed),
    comm: commOf(program),
    argv: p.state === 'Z' ? null : p.argv,
    exe: null,
    env: ENVIRONMENTS[p.pid] ?? {},
    details: detailsOf(p),
    activity: { cpu: p.cpu, bytes: 0 },
  };
};
