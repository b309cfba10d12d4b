import { interleaved, median, namesCertificates, timeOfCommand } from './measure.ts';
import { type Row, ratioRow } from './report.ts';
import type { Stage } from './stage.ts';

/** What Node itself cannot do without: its start, and two files of each process, with nothing made of them. */
const BARE_LOOK = `
  const fs = require('node:fs');
  const buffer = Buffer.allocUnsafe(65536);
  for (const pid of fs.readdirSync('/proc'))
    if (/^\\d+$/.test(pid))
      for (const name of ['stat', 'cmdline'])
        try {
          const fd = fs.openSync('/proc/' + pid + '/' + name);
          fs.readSync(fd, buffer);
          fs.closeSync(fd);
        } catch {}`;

/** `--once` as a person meets it: wall time from start to end. */
export const benchOnce = async (stage: Stage): Promise<Row[]> => {
  const { cli, commandOptions, crowd } = stage;
  const once = timeOfCommand(cli, ['--once'], commandOptions);

  const node = timeOfCommand(process.execPath, ['-e', '0'], commandOptions);
  const plain = timeOfCommand(process.execPath, ['-e', '0'], stage.withoutCertificates);
  const few = await interleaved({ once, node, plain }, stage.quick ? 11 : 41);
  const certificates = namesCertificates(commandOptions.env)
    ? `; ${median(few.plain).toFixed(1)} ms without its certificates`
    : '';

  await crowd.be(5000);
  const ps = timeOfCommand('ps', ['auxf'], commandOptions);
  const bare = timeOfCommand(process.execPath, ['-e', BARE_LOOK], commandOptions);
  const many = await interleaved({ once, ps, bare }, stage.quick ? 5 : 21);
  // As with twenty hooks: how much of it is ours, this tells.
  const floor = `; Node reading two files of each: ${median(many.bare).toFixed(1)} ms`;

  await crowd.be(5000, 'orphans');
  const worst = await interleaved({ once, ps }, stage.quick ? 3 : 11);

  return [
    ratioRow('--once, machine as it is / node -e 0', {
      ours: median(few.once),
      theirs: median(few.node),
      limit: 2,
      note: certificates,
    }),
    ratioRow('--once, 5,000 more processes / ps auxf', {
      ours: median(many.once),
      theirs: median(many.ps),
      limit: 0.75,
      note: floor,
    }),
    ratioRow('the same, all 5,000 orphans of our own user', {
      ours: median(worst.once),
      theirs: median(worst.ps),
      limit: 0.95,
    }),
  ];
};
