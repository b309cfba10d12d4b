import { describe, expect, test } from 'vitest';
import { SERVER_BROWSER } from '../../../src/agents/browsers.ts';
import {
  carriedKind,
  carriedKnowledge,
  isOpenToDebuggers,
  servingPort,
} from '../../../src/judge/rules/effective-kind.ts';
import { worksThrough } from '../../../src/judge/rules/in-use.ts';
import type { Node } from '../../../src/judge/rules/tree.ts';
import type { Kind, Recognition } from '../../../src/model/kind.ts';
import type { ProcessFacts } from '../../../src/model/process.ts';
import { invent } from '../plan/machine.ts';

interface Part {
  readonly seen?: Partial<Recognition>;
  readonly facts?: Partial<ProcessFacts>;
  /** The port that it listens on. */
  readonly port?: number;
}
let pid = 100;
/** A process of a kind with what is below it. */
const node = (kind: Kind, part: Part = {}, ...children: readonly Node[]): Node => {
  pid += 1;
  const details = {
    cwd: '/p',
    swap: 0,
    cgroup: null,
    stdin: 'pipe',
    lostTerminal: false,
    listening: part.port === undefined ? null : { ports: [part.port], clients: 0 },
  } as unknown as NonNullable<ProcessFacts['details']>;
  const { facts, seen } = invent(pid, 1, { kind, seen: part.seen ?? {}, facts: { details, ...part.facts } });
  const made: Node = { facts, seen, kind, agent: null, parent: null, children: [...children] };
  for (const child of children) (child as { parent: Node | null }).parent = made;
  return made;
};

describe('what a process carries', () => {
  test.each<[string, Node, Kind]>([
    ['anything but a wrapper: itself', node('mcp', {}, node('agent')), 'mcp'],
    ['a shell: nothing that counts', node('shell', {}, node('mcp')), 'other'],
    ['a wrapper: what is below it', node('wrapper', {}, node('mcp')), 'mcp'],
    ['however deep', node('wrapper', {}, node('wrapper', {}, node('lean'))), 'lean'],
    ['of several the weightiest', node('wrapper', {}, node('browser'), node('mcp'), node('agent')), 'agent'],
    ['with nothing below it, what its words say', node('wrapper', { seen: { wraps: 'mcp' } }), 'mcp'],
    ['or nothing', node('wrapper'), 'other'],
  ])('%s', (_, one, kind) => expect(carriedKind(one)).toBe(kind));

  test.each<[string, Node, string | null]>([
    [
      'of itself, whatever is below it',
      node('mcp', { seen: { known: 'command' } }, node('mcp', { seen: { known: 'list' } })),
      'command',
    ],
    [
      'of a wrapper: the strongest of what is of the kind below it',
      node(
        'wrapper',
        { seen: { known: null, wraps: null } },
        node('mcp', { seen: { known: 'command' } }),
        node('mcp', { seen: { known: 'list' } }),
      ),
      'list',
    ],
    [
      'or the first that there is',
      node(
        'wrapper',
        { seen: { known: null, wraps: null } },
        node('mcp', { seen: { known: 'command' } }),
        node('mcp', { seen: { known: 'project' } }),
      ),
      'command',
    ],
    [
      'not of what is of another kind',
      node('wrapper', { seen: { known: 'list', wraps: null } }, node('agent', { seen: { known: 'list' } })),
      null,
    ],
    ['by its own words', node('wrapper', { seen: { known: 'list', wraps: 'mcp' } }), 'list'],
  ])('is known %s', (_, one, known) => expect(carriedKnowledge(one, 'mcp')).toBe(known));
});

describe('what an MCP server listens on', () => {
  test('the port of an MCP server is its own', () => {
    expect(servingPort(node('mcp', { port: 90 }))).toBe(90);
    expect(servingPort(node('mcp', {}, node('mcp', { port: 91 })))).toBeNull();
    expect(servingPort(node('other', { port: 92 }))).toBeNull();
    expect(servingPort(node('mcp', { facts: { details: null } }))).toBeNull();
  });
});

describe('a browser that anybody may drive', () => {
  const open = { seen: { role: 'debuggable-browser' } } as const;
  const helper = node('browser');
  const nested = node('browser');
  node('browser', open, node('wrapper', {}, nested), helper);
  test.each<[string, Node, boolean]>([
    ['is one that says so', node('browser', open), true],
    ['is one that listens', node('browser', { port: 9222 }), true],
    ['has helpers, which are told by it', helper, true],
    ['also through a wrapper', nested, true],
    ['is not one that does neither', node('browser'), false],
    [
      'is none that a server drives',
      node('browser', { ...open, seen: { ...open.seen, family: SERVER_BROWSER } }),
      false,
    ],
    [
      'nor one of whose parts a server drives',
      node('browser', open, node('browser', { seen: { family: SERVER_BROWSER } })),
      false,
    ],
    ['is not told by what else is below it', node('browser', {}, node('other', { port: 80 })), false],
  ])('%s', (_, one, isOpen) => expect(isOpenToDebuggers(one)).toBe(isOpen));

  test('is not told by what is above the browser', () => {
    const inner = node('browser');
    node('other', { port: 80 }, inner);
    expect(isOpenToDebuggers(inner)).toBe(false);
    const apart = node('browser');
    node('browser', open, node('other', {}, apart));
    expect(isOpenToDebuggers(apart)).toBe(false);
    const beside = node('browser');
    node('wrapper', {}, beside, node('browser', open));
    expect(isOpenToDebuggers(beside)).toBe(false);
  });
});

describe('an agent works through what is below it', () => {
  const CLOCK = 1000;
  const works = (...children: readonly Node[]) =>
    worksThrough({ clock: CLOCK })(node('agent', {}, ...children));
  test.each<[string, Partial<ProcessFacts>, boolean]>([
    ['a percent of a core', { cpu: 1 }, true],
    ['less than that', { cpu: 0.9 }, false],
    ['half of its time, in a single look', { cpu: null, born: 900, cpuSeconds: 50 }, true],
    ['less than half', { cpu: null, born: 900, cpuSeconds: 49 }, false],
    ['nobody knows how much', { cpu: null, born: 900, cpuSeconds: null }, false],
    ['nobody knows for how long', { cpu: null, born: null, cpuSeconds: 5000 }, false],
    ['for no time at all', { cpu: null, born: CLOCK, cpuSeconds: 5 }, false],
    ['in the future', { cpu: null, born: CLOCK + 5, cpuSeconds: -50 }, false],
    ['a percent, but has ended', { cpu: 1, state: 'Z' }, false],
  ])('%s: %j %s', (_, facts, does) => expect(works(node('other', { facts })) !== null).toBe(does));

  test('but not through servers, nor through what those have below them', () => {
    const busy = { facts: { cpu: 90 } };
    expect(works(node('mcp', busy), node('browser', {}, node('other', busy)))).toBeNull();
    expect(works(node('wrapper', { ...busy, seen: { wraps: 'mcp' } }))).toBeNull();
    const deep = node('other', busy);
    expect(works(node('shell', {}, node('wrapper', { seen: { wraps: 'lake' } }, deep)))).toBe(deep);
  });
});
