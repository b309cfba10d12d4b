import { createServer, type Server } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { TmuxWatch } from '../../src/engine/tmux-watch.ts';
import type { Tree } from '../../src/judge/rules/tree.ts';
import type { Sample } from '../../src/model/observation.ts';
import { Sandbox } from '../support/sandbox.ts';

const uid = process.getuid!();
let sandbox: Sandbox;
let silent: Server;
beforeEach(async () => {
  sandbox = new Sandbox();
  sandbox.write(`tmux/tmux-${uid}/.keep`, '');
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
