import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Installed, troubleWith, type Who } from './installed.ts';

/** The oldest we promise, and each line that is kept up since. */
const LINES = ['20.19', '22', '24'] as const;

/** Beside other caches of the user, never in the clone. */
const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'reaptop-ship');

/** What the npm package `node` downloads in its install script; asked for by name it needs none. */
const PACKAGE = `node-${process.platform}-${process.arch}`;

const nodeOf = (line: string): string | null => {
  const directory = join(cache, line);
  const binary = join(directory, 'node_modules', PACKAGE, 'bin/node');
  if (!existsSync(binary)) {
    mkdirSync(directory, { recursive: true });
    const args = ['install', '--prefix', directory, '--no-audit', '--no-fund', '--no-package-lock'];
    spawnSync('npm', [...args, '--ignore-scripts', '--loglevel=error', `${PACKAGE}@${line}`], {
      cwd: directory,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  return existsSync(binary) ? binary : null;
};

/** Packs, installs into an empty prefix, and runs every face on each Node, as the owner and as somebody else. */
export const main = async (repository: string): Promise<number> => {
  const installed = new Installed(repository);
  const bytes = installed.files.reduce((sum, { size }) => sum + size, 0);
  process.stdout.write(`${installed.files.length} files, ${(bytes / 1e6).toFixed(2)} MB unpacked\n`);
  const people: readonly Who[] = process.getuid?.() === 0 ? ['owner', 'nobody'] : ['owner'];
  let failed = 0;
  try {
    for (const line of LINES) {
      const found = nodeOf(line);
      if (found === null) {
        process.stdout.write(`Node ${line}: could not be had from npm\n`);
        failed += 1;
        continue;
      }
      const node = installed.bring(found);
      const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
      for (const who of people) {
        const trouble = await troubleWith(installed, node, who);
        failed += trouble.length;
        process.stdout.write(
          `Node ${version} as ${who}: ${trouble.length === 0 ? 'ok' : trouble.join('\n  ')}\n`,
        );
      }
    }
  } finally {
    await installed.close();
  }
  return failed === 0 ? 0 : 1;
};
