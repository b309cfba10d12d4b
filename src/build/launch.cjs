#!/usr/bin/env node
'use strict';
/**
 * Starts `main.js` from V8's code cache: compiling 200 KB costs 8 ms and the functions that run cost as much again,
 * together a quarter of what `--once` may take. A cache belongs to one machine, one version of Node and one build, so
 * none is shipped: the first run of each command leaves one in the user's cache directory. Without it, or when V8
 * rejects it, everything is only slower.
 */
const fs = require('node:fs');
const { isAbsolute, join } = require('node:path');
const vm = require('node:vm');

/** The build puts a hash of `main.js` here: V8 itself compares no more than its length. */
const BUILD = 'BUILD';
/** Of all commands and versions of Node together; some 400 KB each. */
const MOST_CACHES = 12;

const { env, argv } = process;
const uid = process.geteuid === undefined ? null : process.geteuid();

/** Which functions run is a matter of the command: each has its own cache. */
const command = argv.slice(2).find(word => /^(?:[a-z]{2,12}|--once|--line)$/.test(word)) ?? 'live';
const base = env.XDG_CACHE_HOME || (env.HOME ? join(env.HOME, '.cache') : '');
const directory = isAbsolute(base) ? join(base, 'reaptop') : null;
const place =
  directory === null ? null : join(directory, `${command}-${BUILD}-${process.version}-${process.arch}.cache`);

/** What is in there is run: only a file that is ours, and that nobody else can write. Root may have another's HOME. */
const readCache = () => {
  let fd;
  try {
    fd = fs.openSync(place, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK);
    const stat = fs.fstatSync(fd);
    const trusted = stat.isFile() && (uid === null || stat.uid === uid) && (stat.mode & 0o022) === 0;
    return trusted ? fs.readFileSync(fd) : undefined;
  } catch {
    return undefined; // none yet, or none for us
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
};

/** Ours alone, and made by us: a directory in another user's home is left as it is. */
const mayWrite = () => {
  fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
  const stat = fs.lstatSync(directory);
  return stat.isDirectory() && (uid === null || stat.uid === uid) && (stat.mode & 0o022) === 0;
};

const forgetOldest = () => {
  const caches = fs
    .readdirSync(directory)
    .filter(name => /\.cache(?:\.\d+)?$/.test(name))
    .map(name => ({ path: join(directory, name), at: fs.lstatSync(join(directory, name)).mtimeMs }))
    .sort((a, b) => b.at - a.at);
  for (const { path } of caches.slice(MOST_CACHES)) fs.rmSync(path, { force: true });
};

const writeCache = script => {
  try {
    if (!mayWrite()) return;
    const draft = `${place}.${process.pid}`;
    fs.writeFileSync(draft, script.createCachedData(), { mode: 0o600, flag: 'wx' });
    fs.renameSync(draft, place);
    forgetOldest();
  } catch {
    // A full or read-only disk: the next run compiles again.
  }
};

const start = () => {
  const file = join(__dirname, 'main.js');
  const source = `(function (require, module, exports, __dirname, __filename) {${fs.readFileSync(file, 'utf8')}\n})`;
  const cachedData = place === null ? undefined : readCache();
  const script = new vm.Script(source, { filename: file, cachedData });
  module.exports.script = script;
  if (place !== null && (cachedData === undefined || script.cachedDataRejected))
    process.on('exit', () => writeCache(script));
  script.runInThisContext()(require, module, module.exports, __dirname, file);
};

/** Hooks run at every step of every session, and status bars every few seconds: small programs of their own. */
const answered = () => {
  if (argv[2] === 'hook') return require('./hook.js').hookEntry(argv.slice(3));
  return argv.includes('--line') && require('./line.js').lineEntry(argv.slice(2));
};
if (!answered()) start();
