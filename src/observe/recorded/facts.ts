import { basename } from 'node:path';
import { type ProcessDetails, type ProcessFacts, UNKNOWN_DETAILS } from '../../model/process.ts';
import { safeArgv } from '../../model/redact.ts';
import { visible } from '../../model/text.ts';
import { splitWords } from '../../model/words.ts';
import type { Row } from './row.ts';
import { parseStart } from './times.ts';

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

/** The letter; macOS says U where Linux says D. */
export const readState = (stat: string | null): string => {
  const letter = stat?.[0];
  if (letter === undefined || !/[A-Za-z]/.test(letter)) return '?';
  return letter === 'U' ? 'D' : letter;
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

const readWords = (row: Row): Words => {
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

const detailsOf = (row: Row): ProcessDetails | null =>
  row.cwd === null && row.swap === null
    ? null
    : { ...UNKNOWN_DETAILS, cwd: row.cwd === null ? null : visible(row.cwd), swap: row.swap };

/** What all rows of a table share. */
export interface Setting {
  /** The moment of the listing in epoch seconds. */
  readonly clock: number;
  /** PID 2 is kthreadd: its children are the kernel's. In a container PID 2 is anything. */
  readonly kthreadd: boolean;
}

/** The process a row describes. */
export const factsOf = (row: Row & { pid: number }, { clock, kthreadd }: Setting): ProcessFacts => {
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
    ...(row.spared === null ? {} : { spared: row.spared }),
    ...(row.doubted === null ? {} : { doubted: row.doubted }),
    ...(row.proven === null ? {} : { proven: row.proven }),
  };
};
