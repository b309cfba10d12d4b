import { mkdirSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TmuxWatch } from '../../src/engine/tmux-watch.ts';
import type { Tree } from '../../src/judge/rules/tree.ts';
import type { Sample } from '../../src/model/observation.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

const uid = process.getuid!();
let sandbox: Sandbox;
let silent: Server;
beforeEach(async () => {
  sandbox = new Sandbox();
  mkdirSync(sandbox.path('tmux', `tmux-${uid}`), { recursive: true, mode: 0o700 });
  silent = createServer();
  await new Promise<void>(done => silent.listen(sandbox.path('tmux', `tmux-${uid}`, 'default'), done));
});
afterEach(async () => {
  silent.close();
  await sandbox.close();
});

/** A machine on which a tmux server runs that accepts and never answers. */
const tree = {
  nodes: [
    {
      facts: { pid: 4242, uid, state: 'S', argv: ['tmux'] },
      seen: { role: 'tmux-server' },
      children: [],
    },
  ],
} as unknown as Tree;
const look = { self: { uid }, clock: 1, processes: [] } as unknown as Sample;

it('a first paint does not wait for a tmux server that keeps silent: its panes are unknown for now', async () => {
  const began = performance.now();
  const { servers } = await new TmuxWatch().panes(tree, look, sandbox.env, { hurry: true });
  expect(performance.now() - began).toBeLessThan(500);
  expect(servers).toEqual([{ socket: '', pid: 4242, reachable: false, panes: [] }]);
});

it('other looks wait for it, a second at most, and say so', async () => {
  sandbox.needsTmux();
  const { servers, warnings } = await new TmuxWatch().panes(tree, look, sandbox.env);
  expect(servers.every(server => !server.reachable)).toBe(true);
  expect(warnings).toEqual([expect.stringContaining('cannot be asked')]);
});

describe('the panes of a server', () => {
  interface At {
    readonly clock?: number;
    /** Processes below the server. */
    readonly children?: readonly number[];
    readonly fresh?: boolean;
    readonly server?: { readonly uid?: number; readonly state?: string };
  }

  /** A real server, whose one session is renamed after the first sample; what the second one calls it. */
  const renamed = async (first: At, second: At): Promise<readonly string[]> => {
    sandbox.tmux('new-session', '-d', '-s', 'before', 'sleep 600');
    const [pid, pane] = sandbox.tmux('list-panes', '-a', '-F', '#{pid} #{pane_pid}').split(' ').map(Number);
    const watch = new TmuxWatch();
    const sampled = async ({ clock = 1, children = [], fresh = false, server = {} }: At) => {
      const facts = { pid, uid, state: 'S', argv: ['tmux', '-L', 'reaptop-test'], ...server };
      const nodes = [{ facts, seen: { role: 'tmux-server' }, children: [] }];
      const processes = [pane, ...children].map(child => ({ pid: child, ppid: pid, start: '7' }));
      return watch.panes(
        { nodes } as unknown as Tree,
        { self: { uid }, clock, processes } as unknown as Sample,
        sandbox.env,
        { fresh },
      );
    };
    await sampled(first);
    sandbox.tmux('rename-session', '-t', 'before', 'after');
    const { servers } = await sampled(second);
    return servers.flatMap(({ panes }) => panes.map(({ session }) => session));
  };

  it.each([
    ['are kept for ten seconds', {}, { clock: 10.9 }, ['before']],
    ['are asked again after ten seconds', {}, { clock: 11 }, ['after']],
    ['are asked again where a signal hangs on them', {}, { fresh: true }, ['after']],
    ['are asked again when the server has another child', {}, { children: [4711] }, ['after']],
    [
      'are asked again when one of its children is another',
      { children: [4711] },
      { children: [4712] },
      ['after'],
    ],
    ['of another user are not asked for', {}, { clock: 20, server: { uid: uid + 1 } }, []],
    ['that has ended are not asked for', {}, { clock: 20, server: { state: 'Z' } }, []],
  ] satisfies [string, At, At, string[]][])('%s', async (_, first, second, expected) => {
    silent.close();
    await until('the silent one to leave', () => !silent.listening);
    expect(await renamed(first, second)).toEqual(expected);
  });
});
