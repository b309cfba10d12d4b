/** One line of the result. `ok` is null when it could not be measured; `measured` then says why. */
export interface Row {
  readonly what: string;
  readonly measured: string;
  readonly limit: string;
  readonly ok: boolean | null;
}

const MARK = { true: 'ok', false: 'FAIL', null: 'skipped' } as const;

export const ratioRow = (
  what: string,
  { ours, theirs, limit, note = '' }: { ours: number; theirs: number; limit: number; note?: string },
): Row => {
  const ratio = ours / theirs;
  return {
    what,
    measured: `${ratio.toFixed(3)} × (${ours.toFixed(1)} ms to ${theirs.toFixed(1)} ms${note})`,
    limit: `≤ ${limit} ×`,
    ok: ratio <= limit,
  };
};

export const valueRow = (what: string, value: number, unit: string, limit: number, note = ''): Row => ({
  what,
  measured: `${value.toFixed(1)} ${unit}${note}`,
  limit: `≤ ${limit} ${unit}`,
  ok: value <= limit,
});

/** What has no limit, or none that holds here. */
export const toldRow = (what: string, measured: string): Row => ({
  what,
  measured,
  limit: '(told)',
  ok: true,
});

export const skippedRow = (what: string, why: string): Row => ({ what, measured: why, limit: '', ok: null });

/** A section that could not be measured to its end is no reason to lose the others. */
export const failedRow = (section: string, why: string): Row => ({
  what: section,
  measured: why,
  limit: '',
  ok: false,
});

const HEAD: Row = { what: 'what', measured: 'measured', limit: 'limit', ok: null };

/** A table that reads well as text and as Markdown. */
export const tableOf = (rows: readonly Row[]): string => {
  const cells = (row: Row): string[] => [
    row.what,
    row.measured,
    row.limit,
    row === HEAD ? 'ok' : MARK[`${row.ok}`],
  ];
  const all = [HEAD, ...rows].map(cells);
  const widths = [0, 1, 2, 3].map(column => Math.max(...all.map(row => row[column]!.length)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  const [head, ...body] = all;
  return [line(head!), line(widths.map(width => '-'.repeat(width))), ...body.map(line)].join('\n');
};
