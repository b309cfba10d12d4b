/**
 * Runs vitest in a pid namespace of its own wherever the machine allows it. The tests judge and clean a whole
 * machine; there it holds nothing but themselves: no agent of the developer's can colour a verdict, nothing of
 * theirs can be signalled, and the kernel ends whatever would be left.
 */
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
const command = [
  process.execPath,
  vitest,
  'run',
  '--config',
  join(here, 'vitest.config.ts'),
  ...process.argv.slice(2),
];

/** As root, and as a user who may make namespaces. */
const WAYS = [[], ['--user', '--map-current-user']];
const NAMESPACE = ['--pid', '--fork', '--mount-proc', '--kill-child'];
const way = WAYS.find(extra => spawnSync('unshare', [...extra, ...NAMESPACE, 'true']).status === 0);

/** A shell as PID 1 reaps what is orphaned there; Node would not. */
const AS_CHILD_OF_A_SHELL = ['sh', '-c', '"$@"; exit $?', 'sh'];
const [program, ...args] =
  way === undefined ? command : ['unshare', ...way, ...NAMESPACE, ...AS_CHILD_OF_A_SHELL, ...command];
if (way === undefined)
  process.stderr.write('No pid namespace here: tests that clean refuse to run beside other leaks.\n');

const { status, signal } = spawnSync(program, args, { stdio: 'inherit' });
process.exit(status ?? (signal === null ? 1 : 130));
