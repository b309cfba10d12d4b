'use strict';
/**
 * Starts `main.js` from V8's code cache of what an earlier run has run: without it `--once` takes half as long again, and
 * the first paint twice as long. A cache belongs to one machine, one version of Node and one build, so none is
 * shipped: the first run of each command leaves one in the user's cache directory. Without a cache, or when V8 rejects
 * it, everything is only slower.
 */
const fs = require('node:fs');
const { isAbsolute, join } = require('node:path');
const { Script } = require('node:vm');

/** The build puts a hash of `main.js` here: V8 itself compares only the length of the source. */
const BUILD = 'BUILD';
const STORED_MS = 1500;
const PIECE = 65_536;
const COMMANDS =
  /^(hook|plugin|line|clean|sweep|doctor|report|guard|beat|prebuild|exclusive|completion|manual|help|--once|--at)(?:=|$)/;

const { env } = process;
const args = process.argv.slice(2);
/** Which functions run depends on the command, so each has its own cache. */
const command = args.map(word => COMMANDS.exec(word)?.[1]).find(Boolean) ?? 'screen';
const uid = process.geteuid?.();
const base = env.XDG_CACHE_HOME || (env.HOME ? join(env.HOME, '.cache') : '');
const directory = isAbsolute(base) ? join(base, 'reaptop') : null;

/** What is in there is run: only a file that is ours and that no one else can write. */
const isOurs = stat => (uid === undefined || stat.uid === uid) && (stat.mode & 0o022) === 0;

/** `readFileSync` asks for the size once more and reads in pieces: half a millisecond for both files. */
const readWhole = (fd, size) => {
  const bytes = Buffer.allocUnsafe(size);
  let length = 0;
  for (let got = 1; got > 0 && length < size; length += got)
    got = fs.readSync(fd, bytes, length, size - length, null);
  return bytes.subarray(0, length);
};

/** Does the rest of the file say the same? In pieces: what is freed at once makes malloc keep as much for ever. */
const repeats = (fd, bytes) => {
  for (let at = 0; at < bytes.length; at += PIECE) {
    const piece = bytes.subarray(at, at + PIECE);
    if (!readWhole(fd, piece.length).equals(piece)) return false;
  }
  return true;
};

const readCache = (path, mark) => {
  let fd;
  try {
    fd = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK);
    const stat = fs.fstatSync(fd);
    if (!stat.isFile() || !isOurs(stat)) return undefined;
    // V8 checks nothing of what it runs, and one wrong bit ends the process: only two equal copies are whole.
    const half = readWhole(fd, stat.size >> 1);
    if (half.subarray(-mark.length).latin1Slice() === mark && repeats(fd, half))
      return half.subarray(0, -mark.length);
    fs.rmSync(path, { force: true });
    return undefined;
  } catch {
    return undefined; // none yet, or none for us
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
};

/** A bundle, and which file it is. esbuild writes ASCII, so it is latin1 as well, which is read twice as fast. */
const readBundle = file => {
  const fd = fs.openSync(file, 'r');
  try {
    const { size, mtimeMs, ino } = fs.fstatSync(fd);
    return { text: readWhole(fd, size).latin1Slice(), mark: `${BUILD}/${size}/${mtimeMs}/${ino}` };
  } finally {
    fs.closeSync(fd);
  }
};

/**
 * V8 takes a cache of its own version and flags alone, so that runs under other flags (NODE_OPTIONS) have their own.
 * `cachedDataVersionTag()` names both, and costs a tenth of a hook: `node:v8` loads Node's streams.
 */
const flags = [...process.execArgv.filter(word => word.startsWith('--')), env.NODE_OPTIONS].join(' ');
let sum = 0;
for (let at = 0; at < flags.length; at += 1) sum = (sum * 31 + flags.charCodeAt(at)) >>> 0;
const engine = `${process.versions.v8}-${sum.toString(36)}-${process.arch}`;

/** `require` of our bundles, each once; everything else is Node's. */
const loaded = new Map();
module.exports.loaded = loaded;
const loadCached = id => {
  if (!id.startsWith('./')) return require(id);
  if (loaded.has(id)) return loaded.get(id).exports;
  const file = join(__dirname, id);
  const path = join(directory, `${command}-${id.slice(2, -3)}-${BUILD}-${engine}.cache`);
  const { text, mark } = readBundle(file);
  const source = `(function (require, module, exports, __dirname, __filename) {${text}\n})`;
  const cachedData = readCache(path, mark);
  const script = new Script(source, { filename: file, cachedData });
  if (cachedData === undefined || script.cachedDataRejected) {
    let isStored = false;
    const store = () => {
      if (isStored) return;
      isStored = true;
      try {
        const half = [script.createCachedData(), Buffer.from(mark)];
        require('./keep-cache.cjs')(path, [...half, ...half], isOurs);
      } catch {
        // a read-only disk, or a directory that is not ours: the next run compiles again
      }
    };
    // A screen may be killed with its terminal, and has run what its start needs once it has been there for a while.
    if (stays) setTimeout(store, STORED_MS).unref();
    process.on('exit', store);
  }
  const bundle = { exports: {}, script };
  loaded.set(id, bundle);
  script.runInThisContext()(loadCached, bundle, bundle.exports, __dirname, file);
  return bundle.exports;
};

/** Whatever is wrong with the program, a hook must not trouble its session. */
if (args[0] === 'hook' && /^[A-Z]/.test(args[1] ?? ''))
  process.on('uncaughtException', () => {
    try {
      fs.writeSync(1, '{}\n');
    } catch {
      // stdout is closed
    }
    process.exit(0);
  });

/** What runs until the terminal closes. A recording (`--at`) is read in a few loops that are hot from the start. */
const stays = command === 'screen' || command === 'guard';
if (stays) require('./screen-flags.cjs');
// Node maps errors to the source only in what it has loaded itself.
const debugs = env.REAPTOP_DEBUG === '1';
if (debugs) process.setSourceMapsEnabled(true);
const load = debugs || directory === null ? require : loadCached;

const run = async () => {
  const isQuick = args[0] === 'hook' || args.includes('--line');
  const first = isQuick ? './quick.js' : command === '--once' ? './once.js' : null;
  if (first === null || !(await load(first).answers(args))) load('./main.js').main();
};
run();
