import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { JudgedProcess, Snapshot } from '../../../src/model/snapshot.ts';
import { Recorder } from '../../../src/remember/recorder/recorder.ts';
import { hourOf } from '../../../src/remember/recorder/segments.ts';
import { type Row, tmux, world } from '../../support/world.ts';

/** What a recording is made of when its size and speed are measured: a busy machine, written by the real writer. */
const STEP_MS = 10_000;
export const DAY_MS = 86_400_000;
export const RELATED = 60;
/** Ten percent of them a minute: one every ten seconds. */
const REPLACED_EACH_STEP = (RELATED * 0.1) / 6;
/** Others only grow or use time; the rest sleeps. */
const BUSY = 12;

const AGENT = 300;
const FIRST = 1000;

const rows = (count: number): Row[] => [
  [200, 1, 'tmux new', { comm: 'tmux: server', argv: ['tmux'] }],
  [210, 200, '-zsh', { tty: 'pts/0' }],
  [AGENT, 210, 'claude --dangerously-skip-permissions', { tty: 'pts/0', rss: 400e6 }],
  ...Array.from(
    { length: count - 3 },
    (_, n): Row => [FIRST + n, AGENT, `npx -y mcp-server-past --place /home/me/project/${n}`, { rss: 40e6 }],
  ),
];

/** A snapshot whose processes were judged once and live on, one leaving and one coming at every step. */
const movingMachine = (from: number): ((step: number) => Snapshot) => {
  const { snapshot } = world(rows(RELATED), { takenAt: from, tmux: [tmux(200, [210])], all: false });
  const processes = [...snapshot.processes];
  const replaceable = processes.flatMap((p, at) => (p.facts.pid >= FIRST ? [at] : []));
  const changed = (p: JudgedProcess, facts: Partial<JudgedProcess['facts']>): JudgedProcess => ({
    ...p,
    facts: { ...p.facts, ...facts },
  });
  return step => {
    for (let n = 0; n < REPLACED_EACH_STEP; n += 1) {
      const at = replaceable[(step + n) % replaceable.length]!;
      const pid = FIRST + RELATED + step;
      processes[at] = changed(processes[at]!, { pid, start: `${pid}00`, born: pid });
    }
    for (let n = 0; n < BUSY; n += 1) {
      const p = processes[n]!;
      const rss = (p.facts.rss ?? 0) + 4096 * ((step * (n + 1)) % 17);
      processes[n] = changed(p, {
        rss,
        cpu: (step * 7 + n) % 90,
        cpuSeconds: (p.facts.cpuSeconds ?? 0) + n / 10,
      });
    }
    return { ...snapshot, takenAt: from + step * STEP_MS, processes: [...processes] };
  };
};

/** Records so long a time up to `to`, at one picture every ten seconds. */
export const record = async (directory: string, to: number, lengthMs: number): Promise<void> => {
  const steps = Math.floor(lengthMs / STEP_MS);
  const from = to - steps * STEP_MS;
  let clock = 0;
  const recorder = new Recorder({ directory, monotonic: () => clock });
  const machine = movingMachine(from);
  for (let step = 0; step <= steps; step += 1) {
    clock = step * STEP_MS;
    const snapshot = machine(step);
    const marks =
      step % 360 === 180 ? [{ at: snapshot.takenAt, mark: 'leak' as const, text: 'a leak appeared' }] : [];
    const warning = await recorder.record(snapshot, marks);
    if (warning !== null) throw new Error(warning);
  }
};

export const recorderDirectory = (state: string): string => join(state, 'recorder');

const HOUR_MS = 3_600_000;

/**
 * Seven days: the last one as it was recorded, and its files again under the names of the six before. What is measured is
 * how an hour is found and read among all of them, so the hours of these moments are recorded anew.
 */
export const recordWeek = async (state: string, now: number, moments: readonly number[]): Promise<void> => {
  const directory = recorderDirectory(state);
  await record(state, now, DAY_MS);
  for (let day = 1; day < 7; day += 1)
    for (let hour = 0; hour < 24; hour += 1) {
      const name = `${hourOf(now - hour * HOUR_MS)}.jsonl`;
      const found = [`${name}.gz`, name].find(file => existsSync(join(directory, file)));
      if (found !== undefined)
        copyFileSync(
          join(directory, found),
          join(directory, found.replace(/^[^.]+/, hourOf(now - day * DAY_MS - hour * HOUR_MS))),
        );
    }
  for (const moment of moments) {
    const end = Math.floor(moment / HOUR_MS) * HOUR_MS + HOUR_MS - STEP_MS;
    for (const ending of ['', '.gz'])
      rmSync(join(directory, `${hourOf(moment)}.jsonl${ending}`), { force: true });
    await record(state, end, HOUR_MS - STEP_MS);
  }
};
