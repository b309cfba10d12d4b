import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Collector } from '../../src/engine/collector.ts';
import { DEFAULT_CONFIG } from '../../src/model/config-defaults.ts';
import { readRecorded, recordedSystem } from '../../src/observe/recorded/load.ts';
import { snapshotOf } from '../support/cli.ts';
import { Sandbox } from '../support/sandbox.ts';

/** One process of a public report; rows of one source are one machine. */
interface Reported {
  readonly source: string;
  readonly pid: number | null;
  readonly ppid: number | null;
  readonly tty: string | null;
  readonly stat: string | null;
  readonly rss_kb: number | null;
  readonly etime: string | null;
  readonly command: string;
  readonly what_the_reporter_says_it_is: string;
  readonly leaked: boolean | 'unknown';
  readonly orphan: boolean | 'unknown';
  readonly platform: string;
}

const REPORTED: readonly Reported[] = readFileSync(
  new URL('../fixtures/cases/reported.jsonl', import.meta.url),
  'utf8',
)
  .trim()
  .split('\n')
  .map(line => JSON.parse(line) as Reported);

const machines = new Map<string, Reported[]>();
for (const row of REPORTED) machines.set(row.source, [...(machines.get(row.source) ?? []), row]);

const AGREES: Readonly<Record<string, readonly string[]>> = {
  wrapper: ['wrapper'],
  mcp: ['mcp'],
  claude: ['agent'],
  subagent: ['agent'],
  'lean-lsp': ['lean-lsp'],
  lake: ['lake'],
  unrelated: ['other', 'shell'],
};

/** Kinds that a table alone cannot tell, and why. */
const UNDECIDABLE: Readonly<Record<string, string>> = {
  '<defunct>': 'macOS keeps no name of a zombie: nothing says that it was a server',
  '/Applications/ChatGPT.app/Contents/Resources/codex -c features.code_mode_host=true app-server --analytics-default-enabled':
    'it is a codex, and live: its host is a desktop app. "unrelated" is the reporter’s word for that',
};

/** Leaks that reporters knew of and a table does not prove. We count them: a rule that loses one must be noticed. */
const PROVEN = [44572, 2672408, 2672259];

/** A pid that the report lacks gets one that no other row has. */
const pidOf = (row: Reported, index: number): number => row.pid ?? 3_900_000 + index;

const cell = (value: string | number | null, width: number): string => String(value ?? '-').padStart(width);

const asListing = (rows: readonly Reported[]): string => {
  const header = '    PID    PPID TTY      STAT       RSS       ELAPSED COMMAND';
  const lines = rows.map((row, index) => {
    const elapsed = /^[\d:-]+$/.test(row.etime ?? '') ? row.etime : null;
    return `${cell(pidOf(row, index), 7)} ${cell(row.ppid, 7)} ${(row.tty ?? '?').padEnd(8)} ${(row.stat ?? 'S').padEnd(4)} ${cell(row.rss_kb ?? 0, 9)} ${cell(elapsed, 13)} ${row.command}`;
  });
  return [header, ...lines, ''].join('\n');
};

const asJsonLines = (rows: readonly Reported[]): string =>
  rows.map((row, index) => `${JSON.stringify({ ...row, pid: pidOf(row, index) })}\n`).join('');

let sandbox: Sandbox;
beforeAll(() => {
  sandbox = new Sandbox();
});
afterAll(() => sandbox.close());

type Found = { readonly kind: string; readonly verdict: string; readonly why: readonly string[] };
type Pair = readonly [Reported, Found];
type Judge = (input: string) => Promise<ReadonlyMap<number, Found>>;

/** The program itself, as a user runs it. */
const byProgram: Judge = async input => {
  const { processes } = await snapshotOf(sandbox, ['--all', '--from', '-'], { input });
  return new Map(processes.map(p => [p.pid, p]));
};

/** The same without the cost of a process each. */
const inMemory: Judge = async input => {
  const read = readRecorded(input, { now: Date.now() });
  if (!read.ok) throw new Error(read.message);
  const system = recordedSystem(read.table);
  const collector = new Collector({ system, config: DEFAULT_CONFIG, env: {}, cwd: '/', roots: [] });
  const { processes } = await collector.collect({ all: true });
  return new Map(processes.map(p => [p.facts.pid, p]));
};

/** A few at a time: each may be a whole run of the program. */
const AT_ONCE = 4;

const judged = async (write: (rows: readonly Reported[]) => string, judge: Judge): Promise<Pair[]> => {
  const pairs: Pair[] = [];
  const waiting = [...machines.values()];
  while (waiting.length > 0) {
    const batch = waiting.splice(0, AT_ONCE).map(async rows => {
      const found = await judge(write(rows));
      return rows.map((row, index): Pair => {
        const process = found.get(pidOf(row, index));
        if (process === undefined) throw new Error(`no process was read from: ${row.command}`);
        return [row, process];
      });
    });
    pairs.push(...(await Promise.all(batch)).flat());
  }
  return pairs;
};

describe.each([
  ['a ps listing', asListing, byProgram],
  ['JSON lines', asJsonLines, inMemory],
])('every reported machine as %s', (_, write, judge) => {
  let pairs: Pair[];
  beforeAll(async () => {
    pairs = await judged(write, judge);
  });

  it('has nine in ten kinds as the reporter says, and the rest is known', () => {
    const differing = pairs
      .filter(([row, found]) => !AGREES[row.what_the_reporter_says_it_is]?.includes(found.kind))
      .map(([row]) => row.command);
    expect(pairs.length).toBeGreaterThan(100);
    expect(differing.length / pairs.length).toBeLessThanOrEqual(0.1);
    expect(new Set(differing)).toEqual(new Set(Object.keys(UNDECIDABLE)));
  });

  it('has no live process called leaked', () => {
    const wrong = pairs.filter(([row, found]) => row.leaked !== true && found.verdict === 'leak');
    expect(wrong.map(([row, found]) => `${row.command}: ${found.why.join('; ')}`)).toEqual([]);
  });

  it('has the orphans without an owner as suspects: a table proves nothing', () => {
    const suspects = pairs.filter(([, found]) => found.verdict === 'suspect').map(([row]) => row.pid);
    expect(suspects).toEqual(expect.arrayContaining(PROVEN));
    expect(pairs.filter(([, found]) => found.verdict === 'leak')).toEqual([]);
  });

  it('protects daemons, supervisors and WSL itself, also those that a reporter wanted gone', () => {
    const kept = pairs.filter(([row]) => /--daemon|--detached|--bg-|--port-tracker-fd/.test(row.command));
    expect(kept.length).toBeGreaterThan(8);
    expect(kept.filter(([, found]) => found.verdict !== 'protected')).toEqual([]);
  });
});

/** What a report does not call somebody's child hangs below PID 1, also where it shows no column for that. */
const asReported = (rows: readonly Reported[]): string =>
  asJsonLines(rows.map(row => ({ ...row, ppid: row.ppid ?? (row.orphan === false ? null : 1) })));

/** What a Mac's report calls leaked and reaptop does not, by its command, and why that is right. */
const WITHOUT_EVIDENCE: Readonly<Record<string, string>> = {
  yes: 'the program says nothing, and a group whose leader has ended is what every daemon has; guard or the screen, which saw it below its agent, can tell',
  '/bin/zsh':
    'a shell without arguments may be anybody’s; that its output went to a task of Claude was read from lsof, not from this row',
};
/** What the contract protects, whoever wanted it gone. */
const RIGHTLY_PROTECTED = /--bg-pty-host|--daemon/;

describe('reported orphans of Macs that their reporters call leaked', () => {
  let pairs: Pair[];
  beforeAll(async () => {
    pairs = (await judged(asReported, inMemory)).filter(([row]) => row.platform.startsWith('macos'));
  });
  const orphans = (is: (value: boolean | 'unknown') => boolean): Pair[] =>
    pairs.filter(([row]) => is(row.leaked) && (row.ppid === 1 || is(row.orphan)));
  const isFound = ([, { verdict }]: Pair): boolean => verdict === 'leak' || verdict === 'suspect';
  const isProtected = ([row]: Pair): boolean => RIGHTLY_PROTECTED.test(row.command);
  /** Found, of those the contract does not protect, and of all. */
  const counted = (rows: readonly Pair[]): readonly number[] => [
    rows.filter(isFound).length,
    rows.filter(row => !isProtected(row)).length,
    rows.length,
  ];

  it('are suspects, but for those that carry no evidence and those that are protected', () => {
    expect(counted(orphans(said => said === true))).toEqual([23, 28, 29]);
    const missed = orphans(said => said === true).filter(row => !isFound(row) && !isProtected(row));
    expect(new Set(missed.map(([row]) => row.command))).toEqual(new Set(Object.keys(WITHOUT_EVIDENCE)));
  });

  it('are suspects in more than 85 of 100 rows when those of which the report is not sure count as well', () => {
    expect(counted(orphans(said => said !== false))).toEqual([30, 35, 37]);
  });

  it('are protected where Claude’s own supervisor or a declared daemon decides', () => {
    const kept = orphans(said => said !== false).filter(isProtected);
    expect(kept.map(([, { verdict }]) => verdict)).toEqual(['protected', 'protected']);
  });

  it('are called leaked in no row that the reporter calls live', () => {
    expect(pairs.filter(([row, { verdict }]) => row.leaked !== true && verdict === 'leak')).toEqual([]);
  });
});
