import { expect, it } from 'vitest';
import { UnrelatedCache } from '../../src/engine/collector-caches.ts';
import { Lineage } from '../../src/judge/rules/lineage.ts';
import { relatedNodes } from '../../src/judge/rules/related.ts';
import { keyOf } from '../../src/model/identity.ts';
import type { Sample } from '../../src/model/observation.ts';
import type { ProcessFacts } from '../../src/model/process.ts';
import { world } from '../support/world.ts';

/** An agent with its server, and a shell with a child that concern nobody. */
const machine = world(
  [
    [1, 0, 'systemd'],
    [100, 1, 'bash'],
    [101, 100, 'sleep 600'],
    [200, 1, 'claude'],
    [201, 200, 'node /opt/mcp-server-github'],
  ],
  { bare: true },
);
const first: Sample = machine.observation;
const NOBODY = new Lineage();

const afterFirstLook = (): UnrelatedCache => {
  const bystanders = new UnrelatedCache();
  bystanders.remember(machine.tree, relatedNodes(machine.tree, NOBODY), first);
  return bystanders;
};

const changed = (change: (p: ProcessFacts) => ProcessFacts | null): Sample => ({
  ...first,
  processes: first.processes.flatMap(p => change(p) ?? []),
});

const judged = (look: Sample, lineage = NOBODY): number[] =>
  afterFirstLook()
    .leaveOut(look, lineage)
    .map(p => p.pid)
    .sort((a, b) => a - b);

const ALL = [1, 100, 101, 200, 201];

it('leaves out who concerns no agent and has not changed, and keeps who is above the others', () => {
  expect(judged(first)).toEqual([1, 200, 201]);
  expect(judged(changed(p => (p.pid === 101 ? { ...p, rss: 4096 } : p)))).toEqual([1, 200, 201]);
});

it('looks at a newcomer, with the bystanders above it', () => {
  const child = first.processes.find(p => p.pid === 101)!;
  const newcomer = { ...child, pid: 102, ppid: 101, start: '999' };
  expect(judged({ ...first, processes: [...first.processes, newcomer] })).toEqual([
    1, 100, 101, 102, 200, 201,
  ]);
});

it.each<[string, Partial<ProcessFacts>]>([
  ['became another program', { argv: ['claude'] }],
  ['got another parent', { ppid: 1 }],
  ['is another process under the same number', { start: '12345' }],
  ['ended and waits to be reaped', { state: 'Z' }],
  ['gave itself another name', { comm: 'claude' }],
  ['belongs to another user', { uid: 4242 }],
])('looks at everybody again when a bystander %s', (_, change) => {
  expect(judged(changed(p => (p.pid === 101 ? { ...p, ...change } : p)))).toEqual(ALL);
});

it('never leaves out who was once seen below an agent', () => {
  const lineage = new Lineage();
  const sleeper = first.processes.find(p => p.pid === 101)!;
  lineage.adopt([[keyOf(sleeper), { owner: '900:1', sessionId: null, parent: null }]]);
  expect(judged(first, lineage)).toContain(101);
});
