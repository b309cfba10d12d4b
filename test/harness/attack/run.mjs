/**
 * `npm run attack`: live things that look leaked, true leaks and hostile repositories, on a machine of real processes
 * (namespaces whose PID 1 is called init). Each scene is held or broken.
 *   --minutes N   how long guard runs with its defaults (default 10)
 *   --quick       no guard: clean --force takes its place, which needs half a minute
 *   --json        the result as JSON
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundleFor } from '../../support/bundle.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const { values } = parseArgs({
  options: { minutes: { type: 'string' }, quick: { type: 'boolean' }, json: { type: 'boolean' } },
});

const NAMESPACE = ['--pid', '--mount', '--fork', '--mount-proc', '--kill-child'];
if (spawnSync('unshare', [...NAMESPACE, 'true']).status !== 0) {
  process.stderr.write('No attack here: it needs a pid namespace of its own (root).\n');
  process.exit(77);
}

const directory = mkdtempSync(join(tmpdir(), 'reaptop-attack-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
const init = join(directory, 'init');
symlinkSync('/bin/sh', init);
const told = join(directory, 'result.json');
const bundle = await bundleFor(resolve(here, 'inside.ts'), resolve(here, `.inside.${process.pid}.mjs`));
const minutes = values.quick ? '0' : (values.minutes ?? '10');
const inside = spawnSync(
  'unshare',
  [...NAMESPACE, init, '-c', '"$@"; exit $?', 'init', process.execPath, bundle, minutes, told],
  { stdio: ['ignore', 'inherit', 'inherit'] },
);
if (inside.status !== 0) process.exit(inside.status ?? 1);

const results = JSON.parse(readFileSync(told, 'utf8'));
const broken = results.filter(({ held }) => !held);
process.stdout.write(
  values.json
    ? `${JSON.stringify(results)}\n`
    : [
        ...results.map(
          ({ name, held, why }) => `${held ? 'held  ' : 'BROKEN'} ${name}${held ? '' : `: ${why}`}`,
        ),
        `${results.length} scenes, ${broken.length} broken`,
        '',
      ].join('\n'),
);
process.exit(broken.length === 0 ? 0 : 1);
