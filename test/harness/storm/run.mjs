/**
 * `npm run storm`: leaks of every habit and innocent work on recycled pids, in a pid namespace of its own.
 *   --rounds N    stop after N clean-ups (default 1,000)
 *   --seconds N   or after N seconds
 *   --json        the tally as JSON
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { release } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundleFor } from '../../support/bundle.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const cache = resolve(here, '../../../node_modules/.cache');
const { values } = parseArgs({
  options: { rounds: { type: 'string' }, seconds: { type: 'string' }, json: { type: 'boolean' } },
});

/** Small enough that numbers come round within seconds; the kernel hands out 301 to this. */
const PID_MAX = 900;

/** Since Linux 6.14 a pid namespace has a limit of its own; before, this file is the whole machine's and not ours to touch. */
const [major = 0, minor = 0] = release().split('.').map(Number);
const ownLimit = major > 6 || (major === 6 && minor >= 14);

const NAMESPACE = ['--pid', '--mount', '--fork', '--mount-proc', '--kill-child'];
const canChooseNextPid =
  spawnSync('unshare', [...NAMESPACE, 'sh', '-c', 'echo 300 > /proc/sys/kernel/ns_last_pid']).status === 0;
if (!canChooseNextPid) {
  process.stderr.write(
    'No storm here: it needs a pid namespace in which the next pid can be chosen (root).\n',
  );
  process.exit(77);
}

const bundle = await bundleFor(resolve(here, 'inside.ts'), resolve(here, `.inside.${process.pid}.mjs`));
const told = resolve(cache, `storm.${process.pid}.json`);
mkdirSync(cache, { recursive: true });
process.on('exit', () => rmSync(told, { force: true }));
const limit = ownLimit ? `echo ${PID_MAX} > /proc/sys/kernel/pid_max || exit 1;` : '';
const seconds = values.seconds ?? '86400';
const rounds = values.rounds ?? (values.seconds === undefined ? '1000' : '1000000');
const inside = spawnSync(
  'unshare',
  // A shell as PID 1 reaps what is orphaned there.
  [
    ...NAMESPACE,
    'sh',
    '-c',
    `${limit} "$@"; exit $?`,
    'sh',
    process.execPath,
    bundle,
    rounds,
    seconds,
    String(PID_MAX),
    told,
  ],
  { stdio: ['ignore', 'inherit', 'inherit'] },
);
if (inside.status !== 0) process.exit(inside.status ?? 1);

const tally = JSON.parse(readFileSync(told, 'utf8'));
const counted = record =>
  Object.entries(record)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ') || 'none';
process.stdout.write(
  values.json
    ? `${JSON.stringify(tally)}\n`
    : [
        `${tally.cleanups} clean-ups in ${tally.seconds} s (${counted(tally.byWay)})`,
        `${tally.leaks} leaks and what they started: ${counted(tally.outcomes)}; ${tally.later} left to the next clean-up, ${tally.left.length} for good`,
        `${tally.guarded} innocent processes on ${tally.recycled} recycled pids and beside them: ${tally.hurt.length} hurt`,
        `${tally.lies.length} outcomes that lie`,
        '',
      ].join('\n'),
);
process.exit(tally.hurt.length + tally.lies.length + tally.left.length === 0 ? 0 : 1);
