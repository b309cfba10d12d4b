/**
 * The bench, from its bundle; where the machine allows it in a pid namespace of its own, because the agents and builds of
 * others are read and drawn as well. Without variables under which every Node starts more slowly, ours and theirs.
 */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mainOf } from '../../support/bundle.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const repository = resolve(here, '../../..');
const { NODE_EXTRA_CA_CERTS: _, NODE_OPTIONS: __, ...env } = process.env;
const OWN = ['--pid', '--fork', '--mount-proc', '--kill-child'];
const INSIDE = 'REAPTOP_BENCH_INSIDE';

if (env[INSIDE] === undefined) {
  const isAlone = spawnSync('unshare', [...OWN, 'true']).status === 0;
  const self = [process.execPath, fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  // A shell as PID 1 reaps what is orphaned there; Node would not.
  const words = isAlone ? ['unshare', ...OWN, 'sh', '-c', '"$@"; exit $?', 'sh', ...self] : self;
  const inside = { ...env, [INSIDE]: isAlone ? 'alone' : 'beside others' };
  process.exitCode = spawnSync(words[0], words.slice(1), { stdio: 'inherit', env: inside }).status ?? 1;
} else {
  const main = await mainOf('bench', resolve(here, 'run.ts'), repository);
  process.exitCode = await main(process.argv.slice(2), repository);
}
