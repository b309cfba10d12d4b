'use strict';
/**
 * Starts `main.js` and the chunks it asks for from V8's code cache: compiling 200 KB costs 8 ms and the functions that
 * run cost as much again, together a quarter of what `--once` may take, and of the live screen three times as much. A
 * cache belongs to one machine, one version of Node and one build, so none is shipped: the first run of each command
 * leaves one in the user's cache directory. Without it, or when V8 rejects it, everything is only slower.
 */
const fs = require('node:fs');
const { dirname, isAbsolute, join } = require('node:path');
const vm = require('node:vm');

/** The build puts a hash of all chunks here: V8 itself compares no more than their length. */
const BUILD = 'BUILD';
/** Of all commands, hooks and versions of Node together; 200 KB for a hook, 800 for most, 4 MB for the live screen. */
const MOST_CACHES = 24;

const { env, argv } = process;
/** What `sh` set aside for the start of Node (see the build) is back for whatever we start. */
if (env.REAPTOP_EXTRA_CA_CERTS !== undefined) {
  env.NODE_EXTRA_CA_CERTS = env.REAPTOP_EXTRA_CA_CERTS;
  delete env.REAPTOP_EXTRA_CA_CERTS;
}
if (env.REAPTOP_ENVIRON !== undefined) {
  for (const entry of Buffer.from(env.REAPTOP_ENVIRON, 'base64').toString('utf8').split('\0')) {
    const at = entry.indexOf('=');
    if (at > 0 && !/^\w+$/.test(entry.slice(0, at))) env[entry.slice(0, at)] ??= entry.slice(at + 1);
  }
  delete env.REAPTOP_ENVIRON;
}
const uid = process.geteuid === undefined ? null : process.geteuid();

/** Which functions run is a matter of the command: each has its own cache. */
const COMMAND =
  /^(?:clean|sweep|doctor|report|guard|beat|prebuild|exclusive|completion|manual|help|--once|--line)$/;
const screen = argv.some(word => word === '--at' || word.startsWith('--at=')) ? 'past' : 'live';
const command = argv.slice(2).find(word => COMMAND.test(word)) ?? screen;
const base = env.XDG_CACHE_HOME || (env.HOME ? join(env.HOME, '.cache') : '');
const directory = isAbsolute(base) ? join(base, 'reaptop') : null;
const placeOf = command =>
  directory === null ? null : join(directory, `${command}-${BUILD}-${process.version}-${process.arch}.cache`);

/** V8 itself tells on stderr of a flag it does not know: each is set up to the last Node that was seen to have it. */
const setFlag = (flag, lastNode) => {
  if (Number.parseInt(process.versions.node, 10) <= lastNode) require('node:v8').setFlagsFromString(flag);
};
const compilesAside = () => command === '--once' && require('node:os').availableParallelism() > 1;
/** What runs for long, or until the terminal closes. */
const stays = command === screen || command === 'guard';

/**
 * Node's own modules come with compiled code, which V8 takes only under the flags that it was started with: what every
 * run of a command needs is loaded before they are set. Compiled afresh, `net` and `child_process` alone take 8 ms more.
 */
const loadBeforeFlags = () => {
  const wanted = ['node:os', 'node:timers/promises'];
  if (command === screen)
    wanted.push('node:child_process', 'node:crypto', 'node:perf_hooks', 'node:assert', 'node:module');
  for (const name of wanted) require(name);
  // Made when they are first asked for, from whichever module fits what they are connected to.
  return [process.stdout, process.stderr];
};

/**
 * All before anything of ours is compiled: V8 rejects a cache that was made under other flags.
 *
 * Keeps the nursery of what runs for long at its first size: garbage here is young and small, and a large nursery only
 * keeps it longer. Measured at 5,000 processes: up to 103 MB without, 76 with. (`--max-semi-space-size` does nothing
 * once V8 runs.) What ends at once keeps nearly all it makes: it is copied fewer times when the nursery grows faster.
 *
 * Lets a function run eight times as long before it is optimised. A refresh is a few milliseconds of many functions
 * every two seconds: for the first minutes the compiler took more than the refreshes themselves (33 ms each with
 * 1,000 processes, 23 so). What is hot for long is still optimised. A recording is read through at once, in a few loops
 * that are hot from the start: there it is worth the compiler. So it is for `--once`, for which somebody waits, where
 * there is another core to compile on: with 5,000 processes a twentieth to a sixth sooner, for a quarter more CPU.
 *
 * Regular expressions are compiled once, at their first use: V8 would make bytecode first, which takes it as long again.
 *
 * guard works for a moment every ten seconds: a compiler that is never paged in saves 8 MB, for a tenth of a percent of
 * a core.
 */
const setFlags = () => {
  setFlag(`--semi-space-growth-factor=${stays ? 1 : 4}`, 24);
  setFlag('--no-regexp-tier-up', 24);
  if (command !== 'past' && !compilesAside()) setFlag('--interrupt-budget=1000000', 20);
  if (command === 'guard') setFlag('--no-opt', 24);
};

/** What is in there is run: only a file that is ours, and that nobody else can write. Root may have another's HOME. */
const readFile = place => {
  let fd;
  try {
    fd = fs.openSync(place, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK);
    const stat = fs.fstatSync(fd);
    const trusted = stat.isFile() && (uid === null || stat.uid === uid) && (stat.mode & 0o022) === 0;
    return trusted ? fs.readFileSync(fd) : null;
  } catch {
    return null; // none yet, or none for us
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
};

/**
 * A line that says of which file each part is, then V8's data one after another, then the build; and all that a second
 * time. V8 checks nothing of what it runs, and one wrong bit ends the process: two copies that agree are whole, and are
 * compared in a twentieth of the millisecond that a checksum would take. What is damaged is deleted.
 */
const readCaches = place => {
  const found = new Map();
  const file = place === null ? null : readFile(place);
  if (file === null) return found;
  const half = file.subarray(0, file.length / 2);
  const isWhole =
    half.equals(file.subarray(half.length)) && half.subarray(-BUILD.length).toString('latin1') === BUILD;
  if (!isWhole) {
    fs.rmSync(place, { force: true });
    return found;
  }
  let from = half.indexOf('\n') + 1;
  for (const entry of half.subarray(0, from).toString('latin1').trim().split(' ')) {
    const [name, length, version] = entry.split(':');
    found.set(name, { version, data: half.subarray(from, from + Number(length)) });
    from += Number(length);
  }
  return found;
};

/** Whose the directory is in which this one is, or would be made: under sudo it is the user's, and stays that. */
const ownerOf = path => {
  const stat = fs.statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? ownerOf(dirname(path)) : stat.uid;
};

/** Ours alone, and made by us: a directory in another user's home is left as it is. */
const mayWrite = () => {
  if (uid !== null && ownerOf(directory) !== uid) return false;
  fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
  const stat = fs.lstatSync(directory);
  return stat.isDirectory() && (uid === null || stat.uid === uid) && (stat.mode & 0o022) === 0;
};

const forgetOldest = () => {
  const files = fs
    .readdirSync(directory)
    .filter(name => /\.cache(?:\.\d+)?$/.test(name))
    .map(name => ({ path: join(directory, name), at: fs.lstatSync(join(directory, name)).mtimeMs }))
    .sort((a, b) => b.at - a.at);
  for (const { path } of files.slice(MOST_CACHES)) fs.rmSync(path, { force: true });
};

const loadedScripts = new Map();

/** A file, and which one it is: V8 would take the code of any other of the same length. */
const readSource = file => {
  const fd = fs.openSync(file, 'r');
  try {
    const { size, mtimeMs, ino } = fs.fstatSync(fd);
    return { text: fs.readFileSync(fd, 'utf8'), version: `${size}/${mtimeMs}/${ino}` };
  } finally {
    fs.closeSync(fd);
  }
};

/** On the disk before it has its name: a crash of the machine leaves the old one or the new one. */
const replaceFile = (place, bytes) => {
  const draft = `${place}.${process.pid}`;
  const fd = fs.openSync(draft, 'wx', 0o600);
  try {
    fs.writeFileSync(fd, bytes);
    fs.fsyncSync(fd);
    fs.renameSync(draft, place);
  } catch (error) {
    fs.rmSync(draft, { force: true });
    throw error;
  } finally {
    fs.closeSync(fd);
  }
};

/** What this run has loaded, and what an earlier one had: chunks that only some runs need stay. */
const writeCaches = (place, caches) => {
  try {
    if (!mayWrite()) return;
    for (const [name, { script, version }] of loadedScripts)
      caches.set(name, { version, data: script.createCachedData() });
    const head = [...caches]
      .map(([name, { data, version }]) => `${name}:${data.length}:${version}`)
      .join(' ');
    const parts = [...caches.values()].map(({ data }) => data);
    const half = Buffer.concat([Buffer.from(`${head}\n`), ...parts, Buffer.from(BUILD)]);
    replaceFile(place, Buffer.concat([half, half]));
    forgetOldest();
  } catch {
    // A full or read-only disk: the next run compiles again.
  }
};

/** `require` of what we bundled: by name, each once. Everything else is Node's. */
const cachedLoader = command => {
  const place = placeOf(command);
  const caches = readCaches(place);
  const loaded = new Map();
  let stale = false;
  const load = id => {
    if (!id.startsWith('./')) return require(id);
    const name = id.slice(2);
    const known = loaded.get(name);
    if (known !== undefined) return known.exports;
    const file = join(__dirname, name);
    const { text, version } = readSource(file);
    const source = `(function (require, module, exports, __dirname, __filename) {${text}\n})`;
    const cached = caches.get(name);
    const cachedData = cached?.version === version ? cached.data : undefined;
    const script = new vm.Script(source, { filename: file, cachedData });
    loadedScripts.set(name, { script, version });
    if (!stale && place !== null && (cachedData === undefined || script.cachedDataRejected)) {
      stale = true;
      process.on('exit', () => writeCaches(place, caches));
    }
    const own = { exports: {} };
    loaded.set(name, own);
    script.runInThisContext()(load, own, own.exports, __dirname, file);
    return own.exports;
  };
  return load;
};
module.exports.loadedScripts = loadedScripts;

/** Where in the source something went wrong: Node maps only what it has loaded itself, so without the cache. */
const debugs = env.REAPTOP_DEBUG === '1';
const loaderFor = name => (debugs ? require : cachedLoader(name));

const HOOK_EVENT =
  /^(?:SessionStart|SessionEnd|UserPromptSubmit|PreToolUse|PostToolUse|PostToolUseFailure|Stop|SubagentStop)$/;

/** Whatever is wrong with the program, a hook must not trouble its session. */
const neverFails = () => {
  const giveUp = () => {
    try {
      fs.writeSync(1, '{}\n');
    } catch {
      // nobody listens any more
    }
    process.exit(0);
  };
  process.on('uncaughtException', giveUp);
};

/** Hooks run at every step of every session, and status bars every few seconds: small programs of their own. */
const answered = () => {
  if (argv[2] === 'hook') {
    if (/^[A-Z]/.test(argv[3] ?? '')) neverFails();
    const load = HOOK_EVENT.test(argv[3]) ? loaderFor(`hook-${argv[3]}`) : require;
    return load('./hook.js').hookEntry(argv.slice(3));
  }
  return argv.includes('--line') && require('./line.js').lineEntry(argv.slice(2));
};

if (debugs) process.setSourceMapsEnabled(true);
if (!answered()) {
  loadBeforeFlags();
  setFlags();
  loaderFor(command)('./main.js');
}
