'use strict';
/** Keeps a code cache for the next runs. The launcher loads this where it found none. */
const fs = require('node:fs');
const { dirname, join } = require('node:path');

const MOST_CACHES = 40;

/** Who owns the directory that this one is in, or would be made in: under sudo that is the user, and stays the user's. */
const ownerOf = path => fs.statSync(path, { throwIfNoEntry: false })?.uid ?? ownerOf(dirname(path));

/** `isOurs`: only where no one else can write, because it will be run. */
module.exports = (path, pieces, isOurs) => {
  const directory = dirname(path);
  const uid = process.geteuid?.();
  if (uid !== undefined && ownerOf(directory) !== uid) return;
  fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
  const stat = fs.lstatSync(directory);
  if (!stat.isDirectory() || !isOurs(stat)) return;
  const draft = `${path}.${process.pid}`;
  const fd = fs.openSync(draft, 'wx', 0o600);
  try {
    for (const piece of pieces) fs.writeFileSync(fd, piece);
    // On the disk before it has its name: a crash of the machine leaves the old one or the new one.
    fs.fsyncSync(fd);
    fs.renameSync(draft, path);
  } catch {
    fs.rmSync(draft, { force: true }); // the disk is full: the next run compiles again
  } finally {
    fs.closeSync(fd);
  }
  const caches = fs.readdirSync(directory).filter(name => /\.cache(?:\.\d+)?$/.test(name));
  const byAge = caches
    .map(name => ({ name, at: fs.lstatSync(join(directory, name)).mtimeMs }))
    .sort((a, b) => b.at - a.at);
  for (const { name } of byAge.slice(MOST_CACHES)) fs.rmSync(join(directory, name), { force: true });
};
