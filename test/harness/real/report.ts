import type { Figures, SceneResult } from './result.ts';

const HEAD = [
  'scene',
  'ending',
  'processes',
  'leaks',
  'found',
  'live called leak',
  'live ended',
  'left',
  'wrong',
];
const WIDTHS = [26, 10, 9, 5, 5, 16, 10, 4, 5];

const cells = (values: readonly (string | number)[]): string =>
  values
    .map((value, index) =>
      index < 2 ? `${value}`.padEnd(WIDTHS[index]!) : `${value}`.padStart(WIDTHS[index]!),
    )
    .join('  ');

export const heading = (): string => cells(HEAD);

export const line = (scene: string, ending: string, figures: Figures): string =>
  cells([
    scene,
    ending,
    ...[figures.processes, figures.leaks, figures.found, figures.liveCalledLeak, figures.liveEnded],
    ...[figures.left, figures.wrong],
  ]);

/** What is wrong, process by process; with `all`, every process. */
export const details = ({ rows, problems, notes, error }: SceneResult, all: boolean): string => {
  const shown = all ? rows : rows.filter(row => row.wrong.length > 0);
  return [
    ...notes.map(note => `    note: ${note}`),
    ...(error === null ? [] : [`    could not be played: ${error}`]),
    ...problems.map(problem => `    ${problem}`),
    ...shown.flatMap(row => [
      `    ${row.pid} (parent ${row.ppid}) ${row.command.slice(0, 110)}`,
      `      ${row.what ?? 'unclaimed'}: ${row.verdict ?? 'not shown'}: ${row.why.join('; ')}`,
      ...row.wrong.map(wrong => `      WRONG: ${wrong}`),
    ]),
  ].join('\n');
};
