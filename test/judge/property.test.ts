import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Lineage } from '../../src/judge/rules/lineage.ts';
import { isRunningAgent, startedAfter } from '../../src/judge/rules/tree.ts';
import { ancestorsOf } from '../../src/model/forest.ts';
import type { Backend } from '../../src/model/observation.ts';
import { VERDICTS } from '../../src/model/snapshot.ts';
import {
  type Extra,
  type Row,
  SELF,
  session,
  tmux,
  UID,
  UNREADABLE,
  type World,
  world,
  ZOMBIE,
} from '../support/world.ts';

const COMMANDS = [
  'claude',
  'claude -p x',
  'claude daemon run',
  'claude --bg',
  'claude bg-spare',
  'claude agents',
  'codex app-server --listen unix:// --managed-daemon',
  'opencode',
  'claude --resume 9c33ca78-1244-4e57-8cc8-184e144261c7',
  'codex exec x',
  'node /opt/bin/codex exec x',
  'node /opt/mcp-server-github',
  'npx -y chroma-mcp',
  'chroma-mcp',
  'lean-lsp-mcp',
  'lean-lsp-mcp --transport sse',
  'lake build',
  'lake serve',
  'lean --worker file:///X.lean',
  'bun /x/claude-mem/scripts/worker-service.cjs --daemon',
  'tmux new -s x',
  '-zsh',
  'sh -c claude',
  'sudo npx -y chroma-mcp',
  'java -jar x.jar',
  'sshd',
  'nvim x',
  '/lib/systemd/systemd --user',
  '/init',
  'gnome-terminal-server',
  '[kworker]',
];
const IDS = ['one', 'two', '9c33ca78-1244-4e57-8cc8-184e144261c7'];
const PIDS = Array.from({ length: 24 }, (_, n) => 100 + n);

const mostly = <T>(usual: T, ...rare: T[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 9, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...rare) });

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });

const env = fc.oneof(
  fc.constant(null),
  fc.record(
    {
      CLAUDECODE: fc.constant('1'),
      CLAUDE_CODE_SESSION_ID: fc.constantFrom(...IDS),
      CLAUDE_PID: fc.constantFrom(...PIDS.map(String), 'x'),
      CODEX_SESSION_ID: fc.constantFrom(...IDS),
      OPENCODE_PID: fc.constantFrom(...PIDS.map(String)),
      CLAUDE_CODE_ENTRYPOINT: fc.constantFrom('cli', 'sdk-ts'),
    },
    { requiredKeys: [] },
  ),
);

const details = fc.oneof(
  fc.constant(null),
  fc.record({
    cwd: fc.constantFrom(null, '/a', '/b'),
    cgroup: mostly(null, '/system.slice/x.service', '/user.slice/session-1.scope', '/docker/abcdef012345'),
    stdin: fc.constantFrom('pipe', 'abandoned-pipe', 'socket', 'unknown'),
    lostTerminal: fc.boolean(),
    listening: fc.constantFrom(
      null,
      { ports: [], clients: 0 },
      { ports: [80], clients: 0 },
      { ports: [80], clients: 1 },
    ),
  }),
) as fc.Arbitrary<Extra['details']>;

const ordinary: fc.Arbitrary<Extra> = fc
  .record({
    env,
    details,
    uid: mostly(UID, 0, 1001, null),
    tty: fc.constantFrom(null, null, 'pts/0', 'pts/1'),
    state: fc.constantFrom('S', 'R', 'D', 'T'),
    born: fc.constantFrom(null, 5, 50, 500, 5000),
    comm: maybe(fc.constantFrom('tmux: server', 'Relay(9)', 'claude')),
    pgid: mostly(7, SELF, null),
  })
  .map(({ comm, ...rest }) => (comm === undefined ? rest : { ...rest, comm }) as Extra);

const extra = fc.oneof({ weight: 8, arbitrary: ordinary }, fc.constant(ZOMBIE), fc.constant(UNREADABLE));

const rows: fc.Arbitrary<Row[]> = fc
  .array(
    fc.tuple(
      fc.constantFrom(0, ...Array<number>(12).fill(1), 2, null, 4711, ...PIDS),
      fc.constantFrom(...COMMANDS),
      extra,
    ),
    {
      minLength: 1,
      maxLength: PIDS.length,
      size: 'max',
    },
  )
  .map(list => list.map(([ppid, command, more], n): Row => [PIDS[n]!, ppid, command, more]));

const machine = fc.record({
  rows,
  container: fc.boolean(),
  backend: fc.constantFrom<Backend>('procfs', 'portable', 'recorded'),
  sessions: fc.array(fc.tuple(fc.constantFrom(...PIDS), fc.constantFrom(...IDS)), { maxLength: 4 }),
  panes: fc.array(fc.constantFrom(...PIDS), { maxLength: 4 }),
  server: fc.constantFrom(...PIDS),
  reachable: fc.boolean(),
  ledger: fc.array(fc.tuple(fc.constantFrom(...PIDS), fc.constantFrom(...PIDS), fc.boolean()), {
    maxLength: 6,
  }),
});

type Machine = typeof machine extends fc.Arbitrary<infer T> ? T : never;

const build = ({ rows, container, backend, sessions, panes, server, reachable, ledger }: Machine): World => {
  const lineage = new Lineage();
  lineage.adopt(
    ledger.map(([pid, owner, same]) => [
      `${pid}:${pid}00`,
      { owner: `${owner}:${same ? `${owner}00` : '7'}`, sessionId: null, parent: null },
    ]),
  );
  return world(rows, {
    host: { container, backend },
    self: backend === 'recorded' ? null : { pid: SELF, uid: UID, pgid: SELF, cgroup: null },
    sessions: sessions.map(([pid, id]) => session(pid, id)),
    tmux: [tmux(server, panes, { reachable })],
    lineage,
  });
};

test('no random machine breaks what a verdict promises', () => {
  fc.assert(
    fc.property(machine, random => {
      const { snapshot, tree, observation } = build(random);
      expect(snapshot.processes).toHaveLength(observation.processes.length);
      expect(new Set(snapshot.processes.map(p => p.facts.pid)).size).toBe(snapshot.processes.length);
      for (const p of snapshot.processes) {
        expect(p.why.length).toBeGreaterThan(0);
        for (const why of p.why) expect(why).not.toMatch(/undefined|null|NaN|\[object/);
        if (p.protection === 'hard') expect(p.verdict).toBe('protected');
        if (p.verdict === 'protected' && p.facts.state !== 'Z') expect(p.protectedBecause).not.toBeNull();
        if (p.verdict !== 'leak') continue;
        expect(p.facts.unreadable).toBe(false);
        expect(p.facts.pid).toBeGreaterThan(2);
        if (observation.self !== null) expect(p.facts.uid).toBe(UID);
        const node = tree.byPid.get(p.facts.pid)!;
        const agent = [...ancestorsOf(node)].find(isRunningAgent);
        const above = snapshot.processes.find(q => q.facts.pid === agent?.facts.pid);
        expect(['claude-daemon', 'codex-daemon']).not.toContain(p.seen.role);
        for (const [family, pid] of [
          ['claude', p.facts.env?.CLAUDE_PID],
          ['opencode', p.facts.env?.OPENCODE_PID],
        ]) {
          const named = tree.byPid.get(Number(pid ?? Number.NaN));
          const owns = named !== undefined && isRunningAgent(named) && named.agent === family;
          if (owns && named !== node && agent === undefined) expect(startedAfter(named, node)).toBe(true);
        }
        if (above !== undefined && p.facts.state !== 'Z') expect(above.verdict).toBe('leak');
      }
      const { totals } = snapshot;
      expect(totals.related).toBe(snapshot.processes.filter(p => p.related).length);
      expect(totals.leaks + totals.suspects).toBeLessThanOrEqual(totals.related);
      for (const value of Object.values(totals)) expect(value).toBeGreaterThanOrEqual(0);
    }),
    { numRuns: 400 },
  );
});

test('random machines do hold leaks, suspects and live work to judge', () => {
  const verdicts = fc
    .sample(machine, 200)
    .flatMap(random => build(random).snapshot.processes.map(p => p.verdict));
  for (const verdict of VERDICTS) expect(verdicts.filter(v => v === verdict).length).toBeGreaterThan(20);
});

test('a leaked process is always a related one: what is shown by default misses none', () => {
  fc.assert(
    fc.property(machine, random => {
      for (const p of build(random).snapshot.processes)
        if (p.verdict === 'leak') expect(p.related).toBe(true);
    }),
    { numRuns: 200 },
  );
});
