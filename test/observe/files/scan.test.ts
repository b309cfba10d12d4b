import { linkSync, mkdirSync, symlinkSync } from 'node:fs';
import { relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { scanFiles } from '../../../src/observe/files/watched-directories.ts';
import { SAMPLE_FORMATS, SAMPLES } from '../../agents/files/samples.ts';
import { Sandbox } from '../../support/sandbox.ts';

describe('scanFiles', () => {
  let sandbox: Sandbox;
  let root: string;
  beforeEach(() => {
    sandbox = new Sandbox();
    root = sandbox.path('work');
  });
  afterEach(() => sandbox.close());
  const put = (path: string, text: string): string => sandbox.write(`work/${path}`, text);
  const found = (roots = [root], sources: Parameters<typeof scanFiles>[1] = []): string[] =>
    scanFiles(roots, sources).readings.map(r => `${r.format} ${relative(root, r.path)}`);

  it('finds every known file where it lives', () => {
    for (const name of SAMPLE_FORMATS) put(SAMPLES[name].path, SAMPLES[name].text);
    expect(found().sort()).toEqual(SAMPLE_FORMATS.map(name => `${name} ${SAMPLES[name].path}`).sort());
    expect(scanFiles([root], []).readings.every(r => r.unreadable === null && r.root === root)).toBe(true);
  });

  it('finds the tasks of a workspace that is a root of its own, and nothing twice when roots overlap', () => {
    const registry = SAMPLES.registry;
    put(registry.path, registry.text);
    put('.agent-workspace/team/a/TASK-20260101-000000-00000001/AGENT_REGISTRY.json', '{}');
    put('specs/7_x/.agent-progress.json', '{}');
    const inner = [`${root}/.agent-workspace`, `${root}/specs/7_x`, `${root}/specs`];
    expect(found(inner)).toHaveLength(3);
    expect(found([...inner, root])).toHaveLength(3);
  });

  it('looks neither into archives nor anywhere else', () => {
    put('specs/archive/1_x/.agent-progress.json', '{}');
    put('src/specs/1_x/.agent-progress.json', '{}');
    put('specs/1_x/deep/.agent-progress.json', '{}');
    put('specs/1_x/.agent-progress.json.tmp', '{}');
    put('.agent-workspace/registry/GLOBAL_REGISTRY.json', '{}');
    expect(found()).toEqual([]);
  });

  it('comes back from symbolic links that lead in circles', () => {
    put('specs/1_x/.agent-progress.json', '{}');
    symlinkSync(root, `${root}/specs/loop`);
    symlinkSync('self', `${root}/specs/self`);
    symlinkSync(`${root}/specs/1_x`, `${root}/specs/2_same`);
    mkdirSync(`${root}/beats`);
    symlinkSync(root, `${root}/beats/up`);
    put('beats/b.json', '{}');
    expect(found([root], [{ name: 's', glob: '**/b.json' }])).toEqual([
      'user beats/b.json',
      'agent-progress specs/1_x/.agent-progress.json',
    ]);
  });

  it('follows the globs of a user, and never above the root', () => {
    put('.heartbeats/one.json', '{"last_beat": 1790000000}');
    put('state/agents/x.status', '{}');
    put('state/agents/.hidden.status', '{}');
    sandbox.write('secret.json', '{}');
    const sources = [
      { name: 'beats', glob: '.heartbeats/*.json', time: 'last_beat' },
      { name: 'status', glob: 'state/{agents,people}/*.status' },
      { name: 'escape', glob: '../*.json' },
    ];
    const { readings } = scanFiles([root], sources);
    expect(readings.map(r => [r.source, r.updatedAt])).toEqual([
      ['beats', 1_790_000_000_000],
      ['status', null],
    ]);
  });

  it('does not list a project directory, however many files it holds', () => {
    const file = put('f', '');
    for (let i = 1; i < 20_000; i++) linkSync(file, `${root}/f${i}`);
    put('specs/1_x/.agent-progress.json', '{}');
    const best = Math.min(
      ...Array.from({ length: 5 }, () => {
        const start = process.cpuUsage();
        expect(found()).toHaveLength(1);
        const used = process.cpuUsage(start);
        return used.user + used.system;
      }),
    );
    // Listing 20,000 names alone takes longer than this.
    expect(best).toBeLessThan(5000);
  });
});
