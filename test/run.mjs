/**
 * Runs vitest in pid namespaces of its own wherever the machine allows it. The tests judge and clean a whole machine;
 * there it holds nothing but themselves: no agent of the developer's can colour a verdict, nothing of theirs can be
 * signalled, and the kernel ends whatever would be left. The parts get one, the tests of the whole program one for each
 * file: they judge every process they see, and so run side by side only where they do not see each other.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** As most people have it: what is made here is to be read by another user of the tests, and its mode is looked at. */
process.umask(0o022);

const here = dirname(fileURLToPath(import.meta.url));
const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
const command = [process.execPath, vitest, 'run', '--config', join(here, 'vitest.config.ts')];
const asked = process.argv.slice(2);

const OWN = ['--pid', '--fork', '--mount-proc', '--kill-child'];
const may = way => spawnSync('unshare', [...way, 'true']).status === 0;
/**
 * Root's own. Others need a user namespace for it, in which root's directories are a stranger's: only the tests of the
 * whole program run there, because they judge every process they see.
 */
const forAll = may(OWN) ? OWN : null;
const asUser = ['--user', '--map-current-user', ...OWN];
const forWhole = forAll ?? (may(asUser) ? asUser : null);

/**
 * A shell as PID 1 reaps what is orphaned there; Node would not. It is called init, as on a whole machine: in a
 * container fewer things are proven.
 */
const directory = mkdtempSync(join(tmpdir(), 'reaptop-init-'));
const [init, runner] = ['init', 'runner'].map(name => join(directory, name));
for (const path of [init, runner]) symlinkSync('/bin/sh', path);
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
const WAITS = ['-c', '"$@"; exit $?', 'sh'];

/** Starts Node in a namespace. As on a whole machine, its parent is neither PID 1 nor called a shell. */
const startsNode = () => {
  const path = join(directory, 'node');
  const words = ['unshare', ...forWhole, init, ...WAITS, runner, ...WAITS, process.execPath];
  const quoted = words.map(word => `'${word.replaceAll("'", "'\\''")}'`);
  writeFileSync(path, `#!/bin/sh\nexec ${quoted.join(' ')} "$@"\n`, { mode: 0o755 });
  return path;
};

/** What the program compiled in one test, it need not compile again in the next. */
const caches = join(directory, 'caches');
mkdirSync(caches, { mode: 0o700 });

/** Nothing here speaks TLS, and with these every one of the thousands of Nodes that are started takes 50 ms more. */
const { NODE_EXTRA_CA_CERTS: _, ...ours } = process.env;
const env = {
  ...ours,
  REAPTOP_TEST_CACHES: caches,
  ...(forWhole === null ? {} : { REAPTOP_TEST_NODE: startsNode() }),
};

/** Resolves to the exit code and what was held back of the output. */
const run = (args, stdio, namespace) =>
  new Promise(resolve => {
    const [program, ...rest] = [
      ...(namespace === null ? [] : ['unshare', ...namespace, init, ...WAITS]),
      ...command,
      ...args,
    ];
    const child = spawn(program, rest, { stdio, env });
    let held = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', text => (held += text));
    child.on('close', (code, signal) => resolve({ code: code ?? (signal === null ? 1 : 130), held }));
  });

const PARTS = ['--project', 'parts'];
const WHOLE = ['--project', 'whole'];
const WATCHED = 'inherit';
const HELD_BACK = ['ignore', 'pipe', 'pipe'];

if (forWhole === null)
  process.stderr.write('No pid namespace here: tests that clean refuse to run beside other leaks.\n');
const runs =
  asked.length > 0
    ? [run(asked, WATCHED, forAll)]
    : forWhole === null
      ? [run([...PARTS, ...WHOLE], WATCHED, null)]
      : [run(PARTS, WATCHED, forAll), run(WHOLE, HELD_BACK, null)];
const codes = [];
for (const { code, held } of await Promise.all(runs)) {
  process.stdout.write(held);
  codes.push(code);
}
process.exit(Math.max(...codes));
