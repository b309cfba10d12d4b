import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Installed, troubleWith } from '../harness/ship/installed.ts';

let installed: Installed;
beforeAll(() => {
  installed = new Installed();
});
afterAll(() => installed.close());

describe('the package', () => {
  it('holds what runs, its manual and the licences of what is in it, and nothing that one machine made', () => {
    const paths = installed.files.map(file => file.path);
    for (const wanted of ['LICENSE', 'README.md', 'dist/cli.js', 'dist/LICENSES.txt', 'dist/reaptop.1'])
      expect(paths).toContain(wanted);
    const plugin = [
      '.claude-plugin/marketplace.json',
      'dist/.claude-plugin/plugin.json',
      'dist/README.md',
      'dist/bin/reaptop',
      'dist/hooks/after-a-tool.sh',
      'dist/hooks/ask-about-kills.sh',
      'dist/hooks/hooks.json',
      'dist/skills/processes/SKILL.md',
    ];
    expect(
      paths
        .filter(
          path => !/^(?:LICENSE|README\.md|package\.json|dist\/[\w.-]+\.(?:c?js|json|txt|[157]))$/.test(path),
        )
        .sort(),
    ).toEqual(plugin);
    expect(installed.files.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(3_200_000);
  });

  it('runs no script and needs no other package where it is installed', () => {
    const text = readFileSync(join(installed.prefix, 'lib/node_modules/reaptop/package.json'), 'utf8');
    const { scripts, dependencies, private: closed, keywords } = JSON.parse(text);
    // A clone is built by `dependencies` and `prepack`, which npm runs for nobody who installs the package.
    for (const name of ['preinstall', 'install', 'postinstall', 'prepare'])
      expect(scripts).not.toHaveProperty(name);
    expect(dependencies).toBeUndefined();
    expect(closed).toBeUndefined();
    expect(keywords).toBeTruthy();
    expect(installed.said).toMatch(/added 1 package/);
    expect(installed.said).not.toMatch(/warn|>/i);
    expect(lstatSync(join(installed.prefix, 'share/man/man1/reaptop.1')).isSymbolicLink()).toBe(true);
  });

  it('names each package that it contains, with its licence', () => {
    const text = readFileSync(join(installed.prefix, 'lib/node_modules/reaptop/dist/LICENSES.txt'), 'utf8');
    for (const name of [
      'commander',
      'ink',
      'react',
      'zod',
      'pino',
      'chokidar',
      'ps-list',
      'pidusage',
      'tree-kill',
    ])
      expect(text).toMatch(new RegExp(`^${name} \\d+\\..* \\((?:MIT|ISC)\\)$`, 'm'));
    expect(text).not.toMatch(/\(undefined\)/);
  });

  it('runs from an empty prefix in every face', async () => {
    expect(await troubleWith(installed, process.execPath, 'owner')).toEqual([]);
  });

  it.runIf(process.getuid?.() === 0)(
    'runs for another user, in a directory that user cannot enter',
    async () => {
      expect(await troubleWith(installed, process.execPath, 'nobody')).toEqual([]);
    },
  );
});
