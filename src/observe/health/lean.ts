import { readdirSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import type { LeanProject } from '../../model/health.ts';
import { visible } from '../../model/text.ts';
import { readInside } from '../files/read-bounded.ts';

/** A cwd is at most this far below its project. */
const MOST_LEVELS = 8;
const MOST_NAME = 80;

/** The Lean project a directory lies in, by the nearest `lean-toolchain`; null when there is none. */
export const leanProjectOf = (directory: string): LeanProject | null => {
  let at = directory;
  for (let level = 0; level < MOST_LEVELS; level += 1) {
    const read = readInside(join(at, 'lean-toolchain'), at, 4096);
    if (read.ok) {
      const toolchain = visible(read.text.trim().split('\n')[0] ?? '').slice(0, MOST_NAME);
      return { path: visible(at), toolchain };
    }
    if (at === dirname(at)) return null;
    at = dirname(at);
  }
  return null;
};

/** Each project once, whatever number of directories lie in it. */
export const leanProjectsOf = (directories: Iterable<string>): readonly LeanProject[] => {
  const found = new Map<string, LeanProject>();
  for (const directory of new Set(directories)) {
    const project = leanProjectOf(directory);
    if (project !== null) found.set(project.path, project);
  }
  return [...found.values()];
};

const listOrNone = (directory: string): readonly string[] => {
  try {
    return readdirSync(directory);
  } catch {
    return []; // not there, or not ours to look into
  }
};

/** `lib/python3.12/site-packages/lean_lsp_mcp-0.24.0.dist-info` beside the `bin` that a program lies in. */
const versionBeside = (bin: string): string | null => {
  const lib = join(dirname(bin), 'lib');
  for (const python of listOrNone(lib).filter(name => name.startsWith('python')))
    for (const name of listOrNone(join(lib, python, 'site-packages'))) {
      const version = /^lean_lsp_mcp-([\w.+!]{1,40})\.dist-info$/.exec(name)?.[1];
      if (version !== undefined) return version;
    }
  return null;
};

/** The version of a lean-lsp-mcp by the words it was started with: its script, or the Python that runs it. */
export const leanServerVersion = (words: readonly string[]): string | null => {
  for (const word of words.slice(0, 3).filter(isAbsolute)) {
    // A venv's python is a link out of it, a console script often a link into it.
    for (const path of new Set([word, realOrNone(word)])) {
      const version = path === null ? null : versionBeside(dirname(path));
      if (version !== null) return version;
    }
  }
  return null;
};

const realOrNone = (path: string): string | null => {
  try {
    return realpathSync(path);
  } catch {
    return null; // gone since it was started
  }
};
