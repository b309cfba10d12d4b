import type { Identity } from './identity.ts';

/** Environment variables we read, by name. Nothing else of an environment is ever kept. */
export const ENV_NAMES = [
  'CLAUDECODE',
  'CLAUDE_CODE_SESSION_ID',
  'CLAUDE_PID',
  'CLAUDE_CODE_MESSAGING_SOCKET',
  'CLAUDE_CODE_ENTRYPOINT',
  'CLAUDE_CONFIG_DIR',
  'CLAUDE_JOB_DIR',
  'CODEX_SESSION_ID',
  'CODEX_THREAD_ID',
  'COPILOT_AGENT_SESSION_ID',
  'COPILOT_CLI',
  'COPILOT_LOADER_PID',
  'GEMINI_CLI',
  'OPENCODE_PID',
  'OPENCODE',
  'LEAN_PROJECT_PATH',
  'HOME',
  'TMUX',
  'TMUX_PANE',
] as const;
export type EnvName = (typeof ENV_NAMES)[number];
export type NamedEnv = Readonly<Partial<Record<EnvName, string>>>;

/**
 * What a descriptor is connected to. `abandoned`: a pipe or socket whose other end is closed. `pipe` and `socket`:
 * somebody holds the other end, or we cannot tell.
 */
export type Stdin = 'pipe' | 'abandoned-pipe' | 'socket' | 'abandoned-socket' | 'tty' | 'file' | 'unknown';

export interface Listening {
  readonly ports: readonly number[];
  readonly clients: number;
}

/**
 * Signs that somebody outside a process's own tree and ancestry uses it: it listens on a unix socket; somebody is
 * connected to that; somebody holds the other end of a socket pair; it is connected to the X11 or Wayland display; it
 * holds /dev/fuse or /dev/kvm; it holds a terminal that others run in; its standard streams are on a terminal that
 * somebody else has open.
 */
export const USES = [
  'unix-listener',
  'unix-client',
  'socket-pair',
  'window',
  'device',
  'terminal',
  'on-terminal',
] as const;

export interface Use {
  readonly how: (typeof USES)[number];
  /** The path, device or terminal. */
  readonly what: string;
}

/** What a process did between two samples at least a second apart. */
export interface Activity {
  /** Percent of one core. */
  readonly cpu: number;
  /** Bytes read and written. */
  readonly bytes: number;
}

/** How a job of launchd stands in the place of a cgroup: `launchd/com.example.server`. */
export const LAUNCHD_JOB = 'launchd/';

/**
 * Costlier facts, read only for processes that need them. `null` always means unknown: not read, not readable or not
 * supported here. Unknown never makes a verdict stronger.
 */
export interface ProcessDetails {
  readonly cwd: string | null;
  readonly swap: number | null;
  /** Who started it, when a setuid program runs as another user. Absent: this backend has but one user to tell. */
  readonly realUid?: number | null;
  /** The number it has for itself, in a pid namespace of its own. Absent: ours. */
  readonly innerPid?: number;
  /** The cgroup path, the most specific one of the process's hierarchies; on macOS a job of launchd. Empty: neither. */
  readonly cgroup: string | null;
  readonly stdin: Stdin;
  /** The pipe that a browser is driven by, other than standard input. Absent: none. */
  readonly drivingPipe?: Stdin;
  /** fd 0, 1 or 2 is on a pty whose other side is closed. */
  readonly lostTerminal: boolean | null;
  /** SIGHUP is ignored, as nohup leaves it. */
  readonly ignoresHangup: boolean | null;
  /** Bytes read and written since its start, or whatever else changes when it reads or writes. */
  readonly io: number | null;
  /** The file that its standard output goes to. Absent: not read, or no file. */
  readonly output?: string;
  /** When that file was last written to; epoch milliseconds. */
  readonly outputAt?: number;
  /** The files of its family's sessions that it holds open. Absent: not asked, or none. */
  readonly holds?: readonly string[];
  /** TCP ports it listens on for others than its own tree, and how many are connected from outside its own subtree and ancestry. `null`: not read. */
  readonly listening: Listening | null;
  /** TCP ports that it listens on, read only to be shown: no rule looks at it. Absent: not asked, or none. */
  readonly ports?: readonly number[];
  /** What uses it from outside its own tree and ancestry, other than over TCP; empty: nothing. */
  readonly uses: readonly Use[] | null;
}

/** Of a process nothing more is known than its row in the table. */
export const UNKNOWN_DETAILS: ProcessDetails = {
  cwd: null,
  swap: null,
  cgroup: null,
  stdin: 'unknown',
  lostTerminal: null,
  ignoresHangup: null,
  io: null,
  listening: null,
  uses: null,
};

const NO_PORTS: readonly number[] = [];

/** TCP ports that it is known to listen on. */
export const portsOf = ({ details }: Pick<ProcessFacts, 'details'>): readonly number[] =>
  details?.listening?.ports ?? details?.ports ?? NO_PORTS;

/**
 * One process as the machine describes it. Texts are already sanitised and redacted.
 * `null` means the source did not say.
 */
export interface ProcessFacts extends Identity {
  readonly ppid: number | null;
  readonly pgid: number | null;
  readonly sid: number | null;
  /** The effective user. */
  readonly uid: number | null;
  /** `pts/3`, `ttys001`; null when it has none or the table does not tell. */
  readonly tty: string | null;
  /** One letter as ps prints it (R S D Z T t I X), `?` when unknown. */
  readonly state: string;
  readonly kernelThread: boolean;
  /** stat or owner could not be read (hidepid, EACCES): unknown, and unknown is never a leak. */
  readonly unreadable: boolean;
  /** When it started, in seconds of the backend's clock (see `Look.clock`). */
  readonly born: number | null;
  /** User + system CPU seconds used so far. */
  readonly cpuSeconds: number | null;
  /** Percent of one core between the last two looks; null on a first look. */
  readonly cpu: number | null;
  readonly rss: number | null;
  readonly comm: string;
  /** null: unreadable, or a zombie. */
  readonly argv: readonly string[] | null;
  readonly exe: string | null;
  /** null: not read or unreadable, which is no evidence of anything. `{}`: read, none of the names is set. */
  readonly env: NamedEnv | null;
  readonly details: ProcessDetails | null;
  /** null or absent: unknown, as after a single sample. */
  readonly activity?: Activity | null;
}

export const isZombie = (p: Pick<ProcessFacts, 'state'>): boolean => p.state === 'Z' || p.state === 'X';

/** RSS + swap: what ending the process gives back. VSZ is never used. */
export const memoryOf = (p: {
  readonly rss: number | null;
  readonly details: Pick<ProcessDetails, 'swap'> | null;
}): number => (p.rss ?? 0) + (p.details?.swap ?? 0);

/** The same to show: null where the source does not say. */
export const knownMemory = (p: Parameters<typeof memoryOf>[0]): number | null =>
  p.rss === null && (p.details?.swap ?? null) === null ? null : memoryOf(p);

/** `ours`, `untold`, or the number of the other user that it belongs to. */
export type UserRelation = 'ours' | 'untold' | number;

/** Ours is what runs as us and was started by us: a setuid program works for the user who started it. */
export const userRelation = (
  p: Pick<ProcessFacts, 'uid' | 'details'>,
  uid: number | undefined,
): UserRelation => {
  const real = p.details?.realUid;
  if (p.uid === null || real === null || uid === undefined) return 'untold';
  if (p.uid !== uid) return p.uid;
  return real === undefined || real === uid ? 'ours' : real;
};

/** The same command line, word by word. */
export const sameArgv = (a: readonly string[] | null, b: readonly string[] | null): boolean =>
  a === b || (a !== null && a.length === b?.length && a.every((word, index) => word === b[index]));

/** The number by which a process knows itself and writes itself down: a sandbox gives it another than ours. */
export const pidForItself = ({ pid, details }: Pick<ProcessFacts, 'pid' | 'details'>): number =>
  details?.innerPid ?? pid;

/** The letter; macOS says U where Linux says D. */
export const readState = (stat: string | null): string => {
  const letter = stat?.[0];
  if (letter === undefined || !/[A-Za-z]/.test(letter)) return '?';
  return letter === 'U' ? 'D' : letter;
};
