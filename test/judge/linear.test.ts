import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judge } from '../../src/judge/judge.ts';
import { prepareKnowledge, recognise } from '../../src/judge/recognise/recognise.ts';
import { Lineage } from '../../src/judge/rules/lineage.ts';
import { detailQuestions, environQuestions, relatedNodes } from '../../src/judge/rules/related.ts';
import { growTree, type Node } from '../../src/judge/rules/tree.ts';
import { DEFAULT_CONFIG } from '../../src/model/config-defaults.ts';
import type { Observation } from '../../src/model/observation.ts';
import { HOST } from '../support/machine.ts';
import { CLOCK, factsOf, type Row, UID } from '../support/world.ts';

const KNOWLEDGE = prepareKnowledge({ recognisers: [], servers: [] });

/** How often the links of a tree are followed while all of it is recognised, asked about and judged; for each process. */
const stepsOf = (rows: readonly Row[]): number => {
  const processes = [[1, 0, '/sbin/init'] as const, ...rows].map(row => factsOf(row as Row));
  const observation: Observation = {
    takenAt: 1_700_000_000_000,
    clock: CLOCK,
    host: HOST,
    self: { pid: 2, uid: UID, pgid: 2, cgroup: null },
    processes,
    complete: true,
    warnings: [],
    tmux: [],
    sessions: [],
    workers: [],
    strange: [],
    servers: [],
    readings: [],
  };
  const tree = growTree(observation, facts => recognise(facts, KNOWLEDGE));
  let steps = 0;
  for (const node of tree.nodes) counted(node, () => (steps += 1));
  const lineage = new Lineage();
  const related = relatedNodes(tree, lineage);
  environQuestions(tree, UID, () => false);
  detailQuestions(related, UID);
  judge({ observation, tree, config: DEFAULT_CONFIG, lineage, related });
  lineage.record(tree, () => null);
  return steps / processes.length;
};

/** A child that is looked at through its parent's list is a step as well. */
const counted = (node: Node, count: () => void): void => {
  const { parent, children } = node;
  const list = new Proxy(children, {
    get: (target, name, receiver) => {
      if (typeof name === 'string' && /^\d+$/.test(name)) count();
      return Reflect.get(target, name, receiver);
    },
  });
  Object.defineProperties(node, {
    parent: {
      get: () => {
        count();
        return parent;
      },
    },
    children: { get: () => list },
  });
};

/** Ten times as much of a shape may not take a process more steps than half of the usual more. */
const GROWTH = 1.5;

const chain =
  (command: string, last: string, top: readonly Row[] = []) =>
  (length: number): readonly Row[] => [
    ...top,
    ...Array.from({ length }, (_, n): Row => [200 + n, n === 0 ? (top[0]?.[0] ?? 1) : 199 + n, command]),
    [200 + length, 199 + length, last],
  ];
const AGENT: Row = [100, 1, 'claude'];
const SERVER = 'node /opt/mcp-server-github';

describe('the steps that a process takes do not grow with', () => {
  test.each<[string, (length: number) => readonly Row[]]>([
    ['a chain of shells below an agent', chain('sh -c x', SERVER, [AGENT])],
    ['a chain of shells that was left', chain('sh -c x', SERVER)],
    ['a chain of wrappers below an agent', chain('npx -y chroma-mcp', 'chroma-mcp', [AGENT])],
    ['a chain of wrappers that was left', chain('npx -y chroma-mcp', 'chroma-mcp')],
    ['a chain of agents', chain('claude', 'claude')],
    [
      'a chain of agents that differ',
      length => Array.from({ length }, (_, n): Row => [200 + n, n === 0 ? 1 : 199 + n, `claude -p task${n}`]),
    ],
    ['a chain of servers', chain(SERVER, SERVER)],
    ['a chain of browsers', chain('chromium --headless', 'chromium --headless')],
    ['a chain of builds below a server', chain('lake build', 'lake build', [[100, 1, SERVER]])],
    [
      'equal servers below one agent',
      length => [AGENT, ...Array.from({ length }, (_, n): Row => [200 + n, 100, SERVER])],
    ],
    [
      'equal servers in wrappers below one agent',
      length => [
        AGENT,
        ...Array.from({ length }, (_, n): Row[] => [
          [200 + 2 * n, 100, 'npx -y chroma-mcp'],
          [201 + 2 * n, 200 + 2 * n, 'chroma-mcp'],
        ]).flat(),
      ],
    ],
    [
      'helpers of one browser',
      length => [
        [100, 1, 'chromium --headless'],
        ...Array.from({ length }, (_, n): Row => [200 + n, 100, 'chromium --type=renderer']),
      ],
    ],
    ['agents side by side', length => Array.from({ length }, (_, n): Row => [200 + n, 1, 'claude'])],
  ])('%s', (_, shape) => {
    const [few, many] = [stepsOf(shape(120)), stepsOf(shape(1200))];
    expect(many).toBeLessThan(GROWTH * few);
  });

  test('any other shape: no forest takes many', () => {
    const COMMANDS = [
      'claude',
      'sh -c x',
      'npx -y chroma-mcp',
      SERVER,
      'lake build',
      'chromium --headless',
      'java',
      'tmux new',
    ];
    const forests = fc.array(
      fc.record({ up: fc.nat(400), deep: fc.boolean(), command: fc.constantFrom(...COMMANDS) }),
      {
        minLength: 200,
        maxLength: 400,
        size: 'max',
      },
    );
    fc.assert(
      fc.property(forests, forest => {
        const rows = forest.map(
          ({ up, deep, command }, n): Row => [100 + n, n === 0 ? 1 : deep ? 99 + n : 100 + (up % n), command],
        );
        expect(stepsOf(rows)).toBeLessThan(MOST_STEPS);
      }),
      { numRuns: 60 },
    );
  });
});

/** What an ordinary tree takes, with room; a walk over all ancestors of each would take hundreds. */
const MOST_STEPS = 150;
