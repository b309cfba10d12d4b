import { expect, it } from 'vitest';
import { Collector, SeenRoots } from '../../src/engine/collector.ts';
import { DEFAULT_CONFIG } from '../../src/model/config-defaults.ts';
import { FakeSystem } from '../act/fake-system.ts';

const DAY = 86_400;

it('a root is kept for a day after it was last seen', () => {
  const roots = new SeenRoots();
  roots.note(['/a', '/b'], 0);
  roots.note(['/b'], DAY);
  expect(roots.all).toEqual(['/a', '/b']);
  roots.note(['/c'], DAY + 1);
  expect(roots.all).toEqual(['/b', '/c']);
});

it('only so many are kept, and those of now last', () => {
  const roots = new SeenRoots();
  for (let i = 0; i < 250; i += 1) roots.note([`/${i}`, '/now'], i);
  expect(roots.all).toHaveLength(200);
  expect(roots.all.at(-1)).toBe('/now');
});

it('the files of an agent that ended are still read, where nobody named the roots', async () => {
  const details = {
    cwd: '/p',
    swap: 0,
    cgroup: null,
    stdin: 'tty',
    lostTerminal: false,
    ignoresHangup: false,
    io: 0,
    listening: { ports: [], clients: 0 },
    uses: [],
  } as const;
  const system = new FakeSystem();
  system.add(600, 800, { comm: 'claude', argv: ['claude'], details, env: {} });
  const asked: string[][] = [];
  const files = {
    read: async (roots: readonly string[]) => {
      asked.push(roots.filter(root => root === '/p'));
      return { readings: [], warnings: [] };
    },
    close: async () => {},
  };
  const collector = new Collector({ system, config: DEFAULT_CONFIG, env: { HOME: '/h' }, cwd: '/', files });
  await collector.collect();
  system.remove(600);
  await collector.collect();
  expect(asked).toEqual([['/p'], ['/p']]);
});
