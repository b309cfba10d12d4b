import { interleaved, median, timeOfCommand } from './measure.ts';
import { type Row, ratioRow } from './report.ts';
import type { Stage } from './stage.ts';

/** `--once` as a person meets it: wall time from start to end. */
export const benchOnce = async (stage: Stage): Promise<Row[]> => {
  const { cli, commandOptions, crowd } = stage;
  const once = timeOfCommand(process.execPath, [cli, '--once'], commandOptions);

  const node = timeOfCommand(process.execPath, ['-e', '0'], commandOptions);
  const few = await interleaved({ once, node }, stage.quick ? 11 : 41);

  await crowd.be(5000);
  const ps = timeOfCommand('ps', ['auxf'], commandOptions);
  const many = await interleaved({ once, ps }, stage.quick ? 5 : 21);

  await crowd.be(5000, 'orphans');
  const worst = await interleaved({ once, ps }, stage.quick ? 3 : 11);

  return [
    ratioRow('--once, machine as it is / node -e 0', {
      ours: median(few.once),
      theirs: median(few.node),
      limit: 1.4,
    }),
    ratioRow('--once, 5,000 more processes / ps auxf', {
      ours: median(many.once),
      theirs: median(many.ps),
      limit: 0.75,
    }),
    ratioRow('the same, all 5,000 orphans of our own user', {
      ours: median(worst.once),
      theirs: median(worst.ps),
      limit: 0.95,
    }),
  ];
};
