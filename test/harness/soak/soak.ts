import { readFileSync, rmSync } from 'node:fs';
import { startAgent } from '../../support/agent.ts';
import { Pty } from '../../support/pty.ts';
import { Sandbox } from '../../support/sandbox.ts';

/** Files: the stat of each process that is read again and again is kept open, and some twenty are alive at a time. */
const BUDGET = { rssMb: 10, heapMb: 6, handles: 8, files: 20 };
/** The p95 of key to paint at the end against minute 2: noise of a shared machine included. */
const FRAME_FACTOR = 2.5;

/** Loaded before the program: writes down its memory, handles and open files twice a second, after a collection of garbage. */
const probe = (path: string): string => `
const { appendFileSync, readdirSync } = require('node:fs');
setInterval(() => {
  global.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  const handles = process.getActiveResourcesInfo().length;
  const files = readdirSync('/proc/self/fd').length;
  appendFileSync(${JSON.stringify(path)}, JSON.stringify({ at: Date.now(), rss, heapUsed, handles, files }) + '\\n');
}, 500).unref();
`;

/** Some 50 processes a second come and go, as below an agent that greps. */
const CHURN = `#!/usr/bin/perl
while (1) {
  for (1 .. 5) { if (!fork) { select(undef, undef, undef, rand 0.3); exit } }
  select(undef, undef, undef, 0.1);
  1 while waitpid(-1, 1) > 0;
}
`;

/** Looking only: nothing here says y to a plan. */
const KEYS = [
  'j',
  'k',
  'l',
  'h',
  'g',
  'G',
  ' ',
  'u',
  '\t',
  '\r',
  'a',
  't',
  's',
  '/x\u001b',
  'c\u001b',
  'z\u001b',
  'x\u001b',
  '?\u001b',
  'p',
  'p',
  'n',
  'N',
  'M',
  'r',
];
const SIZES = [
  [60, 40],
  [200, 50],
  [80, 24],
  [40, 10],
  [120, 40],
] as const;

const pause = (ms: number): Promise<void> => new Promise(done => setTimeout(done, ms));
const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
const p95 = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? 0;

interface Sample {
  readonly at: number;
  readonly rss: number;
  readonly heapUsed: number;
  readonly handles: number;
  readonly files: number;
}

/** A heartbeat that is rewritten, truncated, removed and made again. */
const churnFile = (sandbox: Sandbox, step: number): void => {
  const path = `work/specs/${step % 20}/.agent-progress.json`;
  if (step % 7 === 0) rmSync(sandbox.path(path), { force: true });
  else
    sandbox.write(
      path,
      step % 5 === 0
        ? '{"torn'
        : JSON.stringify({ task: String(step % 20), updated_at: new Date().toISOString() }),
    );
};

const keyToPaint = async (pty: Pty): Promise<number> => {
  const before = pty.written.length;
  const from = performance.now();
  pty.press('j');
  while (pty.written.length === before && performance.now() - from < 2000) await pause(1);
  return performance.now() - from;
};

export const soak = async (minutes: number): Promise<readonly string[]> => {
  const sandbox = new Sandbox();
  const log = sandbox.path('soak.jsonl');
  const wrong: string[] = [];
  const frames: { at: number; ms: number }[] = [];
  try {
    await startAgent(sandbox, {
      children: [sandbox.write('bin/churn', CHURN, 0o755), `${sandbox.sleeper('mcp-server-soak')} 36000`],
    });
    const preload = sandbox.write('bin/probe.cjs', probe(log));
    const pty = new Pty(sandbox, {
      args: ['--interval', '1'],
      columns: 120,
      rows: 40,
      env: { NODE_OPTIONS: `--expose-gc --require=${preload}` },
    });
    await pty.shows('mcp-server-soak');
    const start = Date.now();
    for (let step = 1; Date.now() - start < minutes * 60_000; step += 1) {
      pty.press(KEYS[Math.floor(Math.random() * KEYS.length)]!);
      churnFile(sandbox, step);
      if (step % 40 === 0) {
        const [columns, rows] = SIZES[(step / 40) % SIZES.length]!;
        pty.resize(columns, rows);
      }
      await pause(150);
      if (step % 10 === 0) {
        pty.press('\u001b');
        await pause(100);
        pty.press('g');
        await pause(100);
        frames.push({ at: Date.now(), ms: await keyToPaint(pty) });
      }
      // What was written before is of no use, and half a gigabyte of it would be.
      if (pty.written.length > 1_000_000) pty.written = pty.written.slice(-1000);
    }
    const samples = readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as Sample);
    pty.press('\u001b');
    await pause(300);
    pty.press('\u001bq');
    pty.press('q');
    const code = await pty.exit();
    if (code !== 0) wrong.push(`it ended with ${code}`);
    if (pty.alternate || !pty.cursorShown) wrong.push('the terminal was not restored');
    wrong.push(...verdict(samples, frames, start, minutes));
  } finally {
    await sandbox.close();
  }
  return wrong;
};

/** The last tenth against what was measured around minute 2 (of a shorter run: the second tenth). */
const verdict = (
  samples: readonly Sample[],
  frames: readonly { at: number; ms: number }[],
  start: number,
  minutes: number,
): string[] => {
  const span = minutes * 60_000;
  const early = Math.min(120_000, span * 0.2);
  const around = (at: number): boolean => at >= start + early * 0.6 && at <= start + early * 1.4;
  const atEnd = (at: number): boolean => at >= start + span * 0.9;
  type Pick = (sample: Sample) => number;
  const typical = (pick: Pick, when: (at: number) => boolean): number =>
    median(samples.filter(({ at }) => when(at)).map(pick));
  const grows = (what: string, pick: Pick, budget: number): readonly [string, number, number, number] => [
    what,
    typical(pick, around),
    typical(pick, atEnd),
    typical(pick, around) + budget,
  ];
  const frame = (when: (at: number) => boolean): number =>
    p95(frames.filter(({ at }) => when(at)).map(({ ms }) => ms));
  const rows: readonly (readonly [string, number, number, number])[] = [
    grows('RSS, MB', s => s.rss / 1e6, BUDGET.rssMb),
    grows('heap, MB', s => s.heapUsed / 1e6, BUDGET.heapMb),
    grows('handles', s => s.handles, BUDGET.handles),
    grows('open files', s => s.files, BUDGET.files),
    ['key to paint, p95, ms', frame(around), frame(atEnd), Math.max(50, frame(around) * FRAME_FACTOR)],
  ];
  for (const [what, then, now, limit] of rows)
    process.stdout.write(
      `${now <= limit ? 'ok  ' : 'FAIL'} ${what}: ${then.toFixed(1)} then, ${now.toFixed(1)} at the end (limit ${limit.toFixed(1)})\n`,
    );
  return rows
    .filter(([, , now, limit]) => !(now <= limit))
    .map(([what, then, now]) => `${what} grew from ${then.toFixed(1)} to ${now.toFixed(1)}`);
};

export const main = async (args: readonly string[]): Promise<number> => {
  const minutes = Number(args[0] ?? 10);
  if (!(minutes > 0)) {
    process.stderr.write('Usage: npm run soak -- [MINUTES]\n');
    return 2;
  }
  const wrong = await soak(minutes);
  process.stdout.write(
    wrong.length === 0
      ? `${minutes} min: nothing grew, nothing crashed, the terminal is as it was\n`
      : `${wrong.join('\n')}\n`,
  );
  return wrong.length === 0 ? 0 : 1;
};
