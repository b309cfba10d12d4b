/** Lines that go and come, with one line of what stays around them; for a dry run. */
export const lineDifference = (before: string, after: string): string => {
  const [a, b] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end])
    end += 1;
  const [gone, come] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const shown = [...walk(gone, come)];
  return [
    ...(start > 0 ? [`  ${a[start - 1]}`] : []),
    ...shown.map(([sign, line]) => `${sign} ${line}`),
    ...(end > 0 ? [`  ${a[a.length - end]}`] : []),
    '',
  ].join('\n');
};

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/));

/** More than this is shown as gone and come as a whole. */
const MOST_PAIRS = 4_000_000;

/** The longest common lines stay. */
function* walk(
  gone: readonly string[],
  come: readonly string[],
): Generator<readonly [' ' | '-' | '+', string]> {
  const width = come.length + 1;
  const pairs = (gone.length + 1) * width;
  const lengths = pairs > MOST_PAIRS ? null : new Uint32Array(pairs);
  if (lengths !== null)
    for (let i = gone.length - 1; i >= 0; i -= 1)
      for (let j = come.length - 1; j >= 0; j -= 1)
        lengths[i * width + j] =
          gone[i] === come[j]
            ? lengths[(i + 1) * width + j + 1]! + 1
            : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!);
  let [i, j] = [0, 0];
  while (i < gone.length || j < come.length) {
    if (lengths !== null && i < gone.length && j < come.length && gone[i] === come[j]) {
      yield [' ', gone[i]!];
      i += 1;
      j += 1;
    } else if (
      i < gone.length &&
      (j === come.length || lengths === null || lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!)
    ) {
      yield ['-', gone[i]!];
      i += 1;
    } else {
      yield ['+', come[j]!];
      j += 1;
    }
  }
}
