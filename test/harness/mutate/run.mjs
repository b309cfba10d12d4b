/**
 * `npm run mutate`: changes the rules that decide who is ended, one at a time, and sees whether a test notices.
 * Stryker and its 100 MB live in a cache beside the user's other caches, together with a copy of the clone:
 * TypeScript 7 has not the interface its sandbox asks for, and a mutant must never be seen by the real thing.
 * It all runs in a pid namespace of its own: a mutant of a safety rule signals whom it should not.
 * Incremental: what did not change since the last run is not run again (--force runs everything).
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GROUPS } from './groups.mjs';
import { report } from './report.mjs';

const STRYKER = ['@stryker-mutator/core@9.6.1', '@stryker-mutator/vitest-runner@9.6.1'];

const clone = resolve(fileURLToPath(new URL('../../..', import.meta.url)));
const cache =
  process.env.REAPTOP_MUTATE_CACHE ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'reaptop-mutate');

const run = (command, args) => {
  const { status } = spawnSync(command, args, { cwd: cache, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${command} ${args[0]} ended with ${status}`);
};

const install = () => {
  const lock = readFileSync(join(clone, 'package-lock.json'));
  const stamp = createHash('sha256').update(lock).update(STRYKER.join()).digest('hex');
  const stampFile = join(cache, 'node_modules/.stamp');
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return;
  process.stderr.write(`Installing Stryker into ${cache}\n`);
  for (const file of ['package.json', 'package-lock.json', '.npmrc'])
    cpSync(join(clone, file), join(cache, file));
  run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund']);
  run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-save', ...STRYKER]);
  writeFileSync(stampFile, stamp);
};

const copy = () => {
  for (const directory of ['src', 'test']) {
    rmSync(join(cache, directory), { recursive: true, force: true });
    cpSync(join(clone, directory), join(cache, directory), { recursive: true });
  }
};

/** As root, and as a user who may make namespaces. */
const WAYS = [[], ['--user', '--map-current-user']];
const NAMESPACE = ['--pid', '--fork', '--mount-proc', '--kill-child'];

mkdirSync(cache, { recursive: true });
install();
copy();
const way = WAYS.find(extra => spawnSync('unshare', [...extra, ...NAMESPACE, 'true']).status === 0);
if (way === undefined) {
  process.stderr.write(
    'No mutants here: they are let loose only in a pid namespace, and there is none to be had.\n',
  );
  process.exit(77);
}
const stryker = join(cache, 'node_modules/@stryker-mutator/core/bin/stryker.js');

/** A mutant that lets go of the tests' invented machine signals numbers like 10 and 700: they are to be nobody's. */
const HIGH_PIDS = 'echo 20000 > /proc/sys/kernel/ns_last_pid 2>/dev/null;';

/** Runs one group; gives where its report is, and how long it took. */
const mutate = (name, { mutate: files }, extra) => {
  const begun = Date.now();
  const settings = JSON.parse(readFileSync(join(clone, 'test/harness/mutate/stryker.json'), 'utf8'));
  const reportPath = `reports/${name}.json`;
  writeFileSync(
    join(cache, 'stryker.json'),
    JSON.stringify({
      ...settings,
      mutate: files,
      incrementalFile: `reports/${name}.incremental.json`,
      jsonReporter: { fileName: reportPath },
    }),
  );
  // A session of its own: a mutant that signals its process group would end whoever started us.
  const inside = [
    'setsid',
    '--wait',
    'sh',
    '-c',
    `${HIGH_PIDS} "$@"; exit $?`,
    'sh',
    process.execPath,
    stryker,
    'run',
    'stryker.json',
    ...extra,
  ];
  const { status } = spawnSync('unshare', [...way, ...NAMESPACE, ...inside], {
    cwd: cache,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, REAPTOP_MUTATE_GROUP: name },
  });
  if (status !== 0) process.exit(status ?? 1);
  return { name, path: join(cache, reportPath), seconds: (Date.now() - begun) / 1000 };
};

/** `npm run mutate -- plans sweep --force`: these groups alone; what begins with a dash goes to Stryker. */
const asked = process.argv.slice(2);
const names = asked.filter(word => !word.startsWith('-'));
for (const name of names)
  if (!(name in GROUPS)) {
    process.stderr.write(`There is no group ${name}: ${Object.keys(GROUPS).join(', ')}\n`);
    process.exit(2);
  }
const wanted = Object.entries(GROUPS).filter(([name]) => names.length === 0 || names.includes(name));
const extra = asked.filter(word => word.startsWith('-'));
/** All that acts is to be in a group: a new file must not slip by unnoticed. */
const acting = readdirSync(join(clone, 'src/act'), { recursive: true })
  .filter(path => path.endsWith('.ts'))
  .map(path => `src/act/${path}`);
const runs = wanted.map(([name, group]) => mutate(name, group, extra));
process.exit(report(runs, names.length === 0 ? acting : []));
