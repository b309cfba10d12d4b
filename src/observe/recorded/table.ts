import { basename } from 'node:path';
import type { HostFacts, Sample, TmuxServer } from '../../model/observation.ts';
import {
  type NamedEnv,
  type ProcessDetails,
  type ProcessFacts,
  readState,
  UNKNOWN_DETAILS,
} from '../../model/process.ts';
import { safeArgv } from '../../model/redact.ts';
import { splitWords } from '../../model/shell.ts';
import type { JudgedThen } from '../../model/snapshot.ts';
import { visible } from '../../model/text.ts';
import { lastTimeOfDay, monthOf, parseDate } from '../../model/time.ts';

/** A recorded process table, ready to be judged. */
export interface RecordedTable {
  readonly look: Sample;
  /** Panes from our own JSON; none for a ps listing, where they are unknown. */
  readonly tmux: readonly TmuxServer[];
  /** Of our own JSON: what was judged then. */
  readonly judged?: JudgedThen | undefined;
}

export type ReadTable =
  | { readonly ok: true; readonly table: RecordedTable }
  | { readonly ok: false; readonly message: string };

/** What a source knows beyond its rows. */
export interface TableSurroundings {
  /** When the table was taken, in ms; null: only the rows can tell. */
  readonly takenAt: number | null;
  readonly host: Partial<HostFacts>;
  readonly tmux: readonly TmuxServer[];
  readonly judged?: JudgedThen;
  readonly warnings: readonly string[];
}

const INITS = new Set(['systemd', 'init', 'launchd']);

/** As on a running machine: PID 1 is listed and is none of systemd, init, launchd or WSL's /init. */
export const looksContained = (processes: readonly ProcessFacts[]): boolean => {
  const first = processes.find(p => p.pid === 1);
  if (first === undefined) return false;
  // WSL calls its own `init(Ubuntu)`.
  const names = [basename(first.argv?.[0] ?? first.comm), first.comm.replace(/\(.*\)$/, '')];
  return !names.some(name => INITS.has(name));
};

const MAC_PATH = /^\/(?:Applications|System\/Library|Users|private\/var)\//;
const LINUX_PATH = /^\/(?:home|proc|snap|usr\/lib\/systemd)\//;

const guessPlatform = (processes: readonly ProcessFacts[], rows: readonly RecordedRow[]): string => {
  if (processes.some(p => p.argv?.[0] === '/init' || /^(?:Relay\(|SessionLeader)/.test(p.comm))) return 'wsl';
  if (rows.some(row => row.tty === '??') || processes.some(p => /^ttys\d/.test(p.tty ?? ''))) return 'darwin';
  const programs = processes.map(p => p.argv?.[0] ?? '');
  if (programs.some(program => MAC_PATH.test(program))) return 'darwin';
  if (
    processes.some(p => p.kernelThread || /^pts\//.test(p.tty ?? '') || p.comm === 'systemd') ||
    programs.some(program => LINUX_PATH.test(program))
  )
    return 'linux';
  return 'unknown';
};

/** The moment of a listing: a row with both start and age gives it; so does the `ps` that made it. */
const momentOf = (rows: readonly RecordedRow[]): number | null => {
  for (const row of rows) {
    if (row.startText === null) continue;
    const isPs = /^(?:\S*\/)?ps(?:\s|$)/.test(row.command ?? row.comm ?? '');
    if (row.ageSeconds === null && !isPs) continue;
    const started = parseFullStart(row.startText);
    if (started !== null) return started + (row.ageSeconds ?? 0);
  }
  return null;
};

/** Rows without a pid get one that no kernel would give; a pid seen twice keeps its first row. */
const numbered = (
  rows: readonly RecordedRow[],
): { rows: (RecordedRow & { pid: number })[]; doubles: number } => {
  const seen = new Set<number>();
  const kept: (RecordedRow & { pid: number })[] = [];
  let invented = MAX_PID;
  let doubles = 0;
  for (const row of rows) {
    if (row.pid === null) {
      do invented += 1;
      while (seen.has(invented));
    }
    const pid = row.pid ?? invented;
    if (seen.has(pid)) doubles += 1;
    else kept.push(Object.assign(row, { pid }));
    seen.add(pid);
  }
  return { rows: kept, doubles };
};

export const tableOf = (
  rows: readonly RecordedRow[],
  around: TableSurroundings,
  now: number,
): RecordedTable => {
  const { rows: kept, doubles } = numbered(rows);
  const clock = around.takenAt === null ? (momentOf(kept) ?? now / 1000) : around.takenAt / 1000;
  const second = kept.find(row => row.pid === 2);
  const kthreadd = /^\[?kthreadd\]?$/.test(second?.comm ?? second?.command ?? '');
  const processes = kept.map(row => recordedFacts(row, { clock, kthreadd }));
  return {
    tmux: around.tmux,
    judged: around.judged,
    look: {
      takenAt: Math.round(clock * 1000),
      clock,
      host: {
        name: 'recorded',
        platform: guessPlatform(processes, kept),
        bootId: null,
        memTotal: null,
        memAvailable: null,
        swapUsed: null,
        container: looksContained(processes),
        ...around.host,
        backend: 'recorded',
      },
      self: null,
      processes,
      complete: false,
      warnings: [
        ...around.warnings,
        ...(doubles === 0
          ? []
          : [`${doubles} row${doubles === 1 ? '' : 's'} repeated a PID: the first one of each was kept.`]),
      ],
    },
  };
};

/** One line of a table before it is understood as a process: what the source said, nothing else. */
export interface RecordedRow {
  pid: number | null;
  ppid: number | null;
  pgid: number | null;
  sid: number | null;
  uid: number | null;
  tty: string | null;
  stat: string | null;
  rss: number | null;
  swap: number | null;
  /** Only to tell kernel threads, which have none. */
  virtualSize: number | null;
  ageSeconds: number | null;
  startText: string | null;
  cpuSeconds: number | null;
  cpu: number | null;
  comm: string | null;
  command: string | null;
  /** How deep `ps f` draws it; null: it draws nothing before this one. */
  drawn: number | null;
  cwd: string | null;
  /** TCP ports that it listened on; empty: none, or it does not say. */
  ports: readonly number[];
  env: NamedEnv | null;
  /** The identity's second half when the source is our own JSON. */
  start: string | null;
}

export const emptyRow = (): RecordedRow => ({
  pid: null,
  ppid: null,
  pgid: null,
  sid: null,
  uid: null,
  tty: null,
  stat: null,
  rss: null,
  swap: null,
  virtualSize: null,
  ageSeconds: null,
  startText: null,
  cpuSeconds: null,
  cpu: null,
  comm: null,
  command: null,
  drawn: null,
  cwd: null,
  ports: [],
  env: null,
  start: null,
});

/** Linux's PID_MAX_LIMIT: no kernel hands out a larger pid, so rows without one are numbered above it. */
export const MAX_PID = 4_194_304;

export const isPid = (value: number, most = MAX_PID): boolean =>
  Number.isInteger(value) && value >= 0 && value <= most;

/** A run of spaces is tried from its beginning only: an argument may be a hundred thousand of them. */
const DEFUNCT = /(?<!\s)\s*<defunct>\s*$/;
/** No argv to print: `[kthreadd]` on Linux, `(node)` on macOS. */
const NAME_ONLY = /^(?:\[(.+)\]|\((.+)\))$/;
const NO_TTY = new Set(['?', '??', '-', '', 'n/a']);
/** A command line is cut here before it is split: argv may be megabytes long. */
const LONGEST_COMMAND = 131_072;

/** `/dev/pts/3`, macOS's `s003` and its `s003-` (revoked) all name a terminal of the tables we show. */
const readTty = (cell: string | null): string | null => {
  if (cell === null || NO_TTY.has(cell)) return null;
  const tty = cell.replace(/^\/dev\//, '').replace(/-$/, '');
  return visible(/^s\d{3}$/.test(tty) ? `tty${tty}` : tty);
};

/** What a shell's or script's argv[0] would be called: `-zsh` and `nginx:` keep their name only. */
const nameOf = (word: string): string => basename(word).replace(/^-(?=.)/, '') || word;

/** A kernel's name is kept as it is (`kworker/0:1`); macOS gives a path instead. */
const plainName = (name: string): string => (name.startsWith('/') ? nameOf(name) : name);

interface Words {
  readonly comm: string;
  readonly argv: readonly string[] | null;
  readonly exe: string | null;
  readonly defunct: boolean;
  readonly bracketed: boolean;
}

const readWords = (row: RecordedRow): Words => {
  const command = (row.command ?? '').trim().slice(0, LONGEST_COMMAND);
  const name = row.comm?.trim() ?? '';
  const zombie = readState(row.stat) === 'Z' || DEFUNCT.test(command) || DEFUNCT.test(name);
  const bare = command.replace(DEFUNCT, '');
  const only = NAME_ONLY.exec(bare);
  const cleanName = name.replace(DEFUNCT, '');
  const exe = cleanName.startsWith('/') ? visible(cleanName) : null;
  if (zombie || only !== null || bare === '') {
    const first = only?.[1] ?? only?.[2] ?? splitWords(bare)[0] ?? '';
    const comm = plainName(cleanName.replace(NAME_ONLY, '$1$2') || first) || '<defunct>';
    return {
      comm: visible(bare === '' && cleanName === '' && !zombie ? '' : comm),
      argv: null,
      exe: zombie ? null : exe,
      defunct: zombie,
      bracketed: only !== null,
    };
  }
  // macOS prints the program's whole path as its name: then argv[0] may hold spaces.
  const split = splitWords(bare);
  const whole = exe !== null && cleanName.length > split[0]!.length && `${bare} `.startsWith(`${cleanName} `);
  const argv = whole ? [cleanName, ...splitWords(bare.slice(cleanName.length))] : split;
  return {
    comm: visible(cleanName === '' ? nameOf(argv[0]!) : plainName(cleanName)),
    argv: safeArgv(argv),
    exe,
    defunct: false,
    bracketed: false,
  };
};

const detailsOf = (row: RecordedRow): ProcessDetails | null =>
  row.cwd === null && row.swap === null && row.ports.length === 0
    ? null
    : {
        ...UNKNOWN_DETAILS,
        cwd: row.cwd === null ? null : visible(row.cwd),
        swap: row.swap,
        ...(row.ports.length === 0 ? {} : { ports: row.ports }),
      };

/** What all rows of a table share. */
export interface Setting {
  /** The moment of the listing in epoch seconds. */
  readonly clock: number;
  /** PID 2 is kthreadd: its children are the kernel's. In a container PID 2 is anything. */
  readonly kthreadd: boolean;
}

/** The process a row describes. */
export const recordedFacts = (
  row: RecordedRow & { pid: number },
  { clock, kthreadd }: Setting,
): ProcessFacts => {
  const words = readWords(row);
  const started = row.startText === null ? null : parseStart(row.startText, clock);
  const born = row.ageSeconds === null ? started : clock - row.ageSeconds;
  const kernel =
    (kthreadd && (row.pid === 2 || row.ppid === 2)) ||
    (words.bracketed && (row.virtualSize === 0 || (kthreadd && row.ppid === null)));
  return {
    pid: row.pid,
    start: row.start ?? (started === null ? (row.startText ?? '0').replaceAll(' ', '_') : String(started)),
    ppid: row.ppid,
    pgid: row.pgid,
    sid: row.sid,
    uid: row.uid,
    tty: readTty(row.tty),
    state: words.defunct ? 'Z' : readState(row.stat),
    kernelThread: kernel && !words.defunct,
    unreadable: false,
    born: born === null ? null : Math.min(born, clock),
    cpuSeconds: row.cpuSeconds,
    cpu: row.cpu,
    rss: row.rss,
    comm: words.comm,
    argv: kernel ? null : words.argv,
    exe: words.exe,
    env: row.env,
    details: detailsOf(row),
  };
};

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const clockTime = (text: string): { hour: number; minute: number } | null => {
  const m = /^(\d{1,2})(?::(\d\d))?(AM|PM)?$/i.exec(text);
  if (m === null || (m[2] === undefined && m[3] === undefined)) return null;
  const half = m[3]?.toUpperCase();
  const hour = half === undefined ? Number(m[1]) : (Number(m[1]) % 12) + (half === 'PM' ? 12 : 0);
  return hour < 24 ? { hour, minute: Number(m[2] ?? 0) } : null;
};

const seconds = (date: Date): number | null =>
  Number.isNaN(date.getTime()) ? null : Math.floor(date.getTime() / 1000);

/** Listings and our clock may disagree by a little. */
const SLACK = 300;

/** A point given without its day or year is the last such point before `clock`. */
const notAfter = (date: Date, clock: number, back: (date: Date) => void): number | null => {
  if (date.getTime() / 1000 > clock + SLACK) back(date);
  return seconds(date);
};

/** The full form with its own year, as LSTART prints it; ISO dates too. */
const parseFullStart = (text: string): number | null => {
  const at = parseDate(text);
  return at === null ? null : Math.floor(at / 1000);
};

/**
 * START, STARTED and STIME in their short forms, on the clock of the listing (epoch seconds, local time):
 * `13:02`, `12:53PM`, `Sat09AM`, `Feb13`, `Feb 13`, `13Feb26`. A bare year says too little.
 */
const parseStart = (text: string, clock: number): number | null => {
  const full = parseFullStart(text);
  if (full !== null) return full;
  const now = new Date(clock * 1000);
  const time = clockTime(text);
  if (time !== null) {
    const at = lastTimeOfDay([time.hour, time.minute], (clock + SLACK) * 1000, clock * 1000);
    return at === null ? null : at / 1000;
  }
  const weekday = /^([A-Za-z]{3})(\d{1,2}(?::\d\d)?(?:AM|PM)?)$/i.exec(text);
  const day = weekday === null ? -1 : DAYS.indexOf(weekday[1]!.toLowerCase());
  const at =
    weekday === null || day === -1
      ? null
      : clockTime(/[:M]/i.test(weekday[2]!) ? weekday[2]! : `${weekday[2]}:00`);
  if (at !== null) {
    const date = new Date(now);
    date.setDate(date.getDate() - ((date.getDay() - day + 7) % 7));
    date.setHours(at.hour, at.minute, 0, 0);
    return notAfter(date, clock, d => d.setDate(d.getDate() - 7));
  }
  const dated = /^(?:([A-Za-z]{3})\s*(\d{1,2})|(\d{1,2})\s*([A-Za-z]{3})(\d\d)?)$/.exec(text);
  const mo = dated === null ? -1 : monthOf(dated[1] ?? dated[4]!);
  if (dated === null || mo === -1) return null;
  if (dated[5] !== undefined) return seconds(new Date(2000 + Number(dated[5]), mo, Number(dated[3])));
  const date = new Date(now.getFullYear(), mo, Number(dated[2] ?? dated[3]));
  return notAfter(date, clock, d => d.setFullYear(d.getFullYear() - 1));
};
