import { pause, percentile } from './measure.ts';
import { type Row, valueRow } from './report.ts';
import type { Stage } from './stage.ts';
import { BenchTerminal, type TerminalSize, WIDE } from './terminal.ts';

const PRESSES = { thorough: 100, quick: 30 };
/** Not a divisor of the refresh: presses fall before, into and after one. */
const BETWEEN_MS = 73;
const GIVE_UP_MS = 1000;
/** Synchronised output: the terminal shows the frame now. */
const FRAME_END = '\u001b[?2026l';

const LIMITS: readonly (readonly [TerminalSize, number])[] = [
  [{ columns: 60, rows: 40 }, 12],
  [{ columns: 80, rows: 24 }, 12],
  [WIDE, 20],
];

/** From the press of a key that moves the selection to the end of the frame that answers it. */
export const benchKeys = async (stage: Stage): Promise<Row[]> => {
  await stage.crowd.be(1000);
  await stage.agent();
  stage.stir(true);
  const rows: Row[] = [];
  for (const [size, limit] of LIMITS) {
    const times = await pressMany(stage, size);
    rows.push(
      valueRow(
        `TUI, key to paint, p95, 1000 processes, ${size.columns}×${size.rows}`,
        percentile(times, 95),
        'ms',
        limit,
        ` (median ${percentile(times, 50).toFixed(1)})`,
      ),
    );
  }
  stage.stir(false);
  return rows;
};

const pressMany = async (stage: Stage, size: TerminalSize): Promise<number[]> => {
  const terminal = new BenchTerminal(stage.cli, [], { ...stage.commandOptions, size });
  try {
    await terminal.wrote('restless');
    await pause(3000);
    const times: number[] = [];
    for (let press = 0; press < PRESSES[stage.quick ? 'quick' : 'thorough']; press += 1) {
      await pause(BETWEEN_MS);
      times.push(await answer(terminal, press % 2 === 0 ? 'j' : 'k'));
    }
    return times;
  } finally {
    await terminal.close();
  }
};

const answer = (terminal: BenchTerminal, key: string): Promise<number> =>
  new Promise((done, fail) => {
    const patience = setTimeout(() => fail(new Error(`no answer to ${key}`)), GIVE_UP_MS);
    const from = process.hrtime.bigint();
    let answered = '';
    terminal.onOutput = data => {
      answered += data;
      if (!answered.includes(FRAME_END)) return;
      terminal.onOutput = null;
      clearTimeout(patience);
      done(Number(process.hrtime.bigint() - from) / 1e6);
    };
    terminal.press(key);
  });
