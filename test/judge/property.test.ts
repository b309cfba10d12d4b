import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Lineage } from '../../src/judge/rules/lineage.ts';
import { isRunningAgent, startedAfter } from '../../src/judge/rules/tree.ts';
import { ancestorsOf } from '../../src/model/forest.ts';
import type { Backend } from '../../src/model/observation.ts';
import type { Activity, Listening, Use } from '../../src/model/process.ts';
import { VERDICTS } from '../../src/model/snapshot.ts';
import {
  CLOCK,
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
  fc.oneof({ weight: 24, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...rare) });

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });

const env = fc.oneof(
  fc.constant(null),
  fc.constant({ CLAUDE_PID: '7' }),
  fc.constant({}),
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

const details = fc.oneof(fc.constant(null), {
  weight: 8,
  arbitrary: fc.record({
    cwd: fc.constantFrom(null, '/a', '/b'),
    cgroup: mostly(
      '',
      null,
      '/system.slice/x.service',
      '/user.slice/session-1.scope',
      '/docker/abcdef012345',
    ),
    stdin: fc.constantFrom('pipe', 'abandoned-pipe', 'abandoned-socket', 'socket', 'unknown'),
    drivingPipe: fc.constantFrom('pipe', 'abandoned-pipe', 'unknown'),
    lostTerminal: fc.constantFrom(true, false, null),
    ignoresHangup: mostly<boolean | null>(false, true, null),
    io: fc.constantFrom(0, null),
    innerPid: mostly<number | undefined>(undefined, 3),
    outputAt: mostly<number | undefined>(undefined, CLOCK * 1000),
    uses: mostly<readonly Use[] | null>(
      [],
      null,
      [{ how: 'window', what: 'X0' }],
      [{ how: 'unix-listener', what: '/s' }],
      [{ how: 'socket-pair', what: '7' }],
      [{ how: 'on-terminal', what: 'pts/1' }],
    ),
    listening: mostly<Listening | null>(
      { ports: [], clients: 0 },
      null,
      { ports: [80], clients: 0 },
      { ports: [80], clients: 1 },
    ),
  }),
}) as fc.Arbitrary<Extra['details']>;

const ordinary: fc.Arbitrary<Extra> = fc
  .record({
    env,
    details,
    uid: mostly(UID, 0, 1001, null),
    tty: fc.constantFrom(null, null, null, null, 'pts/0', 'pts/1'),
    state: fc.constantFrom('S', 'R', 'D', 'T'),
    born: fc.constantFrom(null, ...Array<number>(12).fill(5000), 5, 50, 500),
    comm: maybe(fc.constantFrom('tmux: server', 'Relay(9)', 'claude')),
    pgid: mostly(7, SELF, null),
    activity: mostly<Activity | null>({ cpu: 0, bytes: 0 }, null, { cpu: 5, bytes: 0 }, { cpu: 0, bytes: 9 }),
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
  container: mostly(false, true),
  backend: mostly<Backend>('procfs', 'portable', 'recorded'),
  sessions: fc.array(
    fc.tuple(fc.constantFrom(...PIDS), fc.constantFrom(...IDS), fc.constantFrom('busy', 'idle')),
    { maxLength: 4 },
  ),
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
    sessions: sessions.map(([pid, id, status]) => session(pid, id, { status })),
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
  for (const verdict of VERDICTS) expect(verdicts.filter(v => v === verdict).length).toBeGreaterThan(5);
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

/** Every way to know less about a process, by the fact that is missing then. */
const WITHHELD: Readonly<Record<string, (extra: Extra) => Extra>> = {
  env: extra => ({ ...extra, env: null }),
  details: extra => ({ ...extra, details: null }),
  uid: extra => ({ ...extra, uid: null }),
  activity: extra => ({ ...extra, activity: null }),
  argv: extra => ({ ...extra, argv: null }),
  born: extra => ({ ...extra, born: null }),
  cpu: extra => ({ ...extra, cpu: null, cpuSeconds: null }),
  pgid: extra => ({ ...extra, pgid: null }),
  ...Object.fromEntries(
    (
      [
        ['cwd', null],
        ['cgroup', null],
        ['stdin', 'unknown'],
        ['drivingPipe', 'unknown'],
        ['lostTerminal', null],
        ['ignoresHangup', null],
        ['io', null],
        ['listening', null],
        ['uses', null],
        ['realUid', null],
      ] as const
    ).map(([name, unknown]) => [
      name,
      (extra: Extra): Extra =>
        extra.details === null
          ? extra
          : ({ ...extra, details: { ...extra.details, [name]: unknown } } as Extra),
    ]),
  ),
};

const leaksOf = (random: Machine): ReadonlySet<number> =>
  new Set(
    build(random)
      .snapshot.processes.filter(p => p.verdict === 'leak')
      .map(p => p.facts.pid),
  );

/** What nobody knows of one process, or of all. */
const less = (random: Machine, fact: string, pid: number | null): Machine => ({
  ...random,
  rows: random.rows.map((row): Row => {
    const [own, ppid, command, more = {}] = row;
    return pid === null || pid === own ? [own, ppid, command, WITHHELD[fact]!(more)] : row;
  }),
});

/** No parent is younger than its child: such a table is torn, which only births can tell. */
const isSound = ({ rows }: Machine): boolean => {
  const born = new Map(rows.map(([pid, , , more]) => [pid, more?.born === undefined ? pid : more.born]));
  return rows.every(
    ([pid, ppid]) => (born.get(ppid ?? 0) ?? 0) <= (born.get(pid) ?? Number.POSITIVE_INFINITY),
  );
};

test('what is withheld never makes a leak', () => {
  let withheld = 0;
  fc.assert(
    fc.property(
      machine,
      fc.constantFrom(...Object.keys(WITHHELD)),
      fc.constantFrom<number | null>(null, ...PIDS),
      (random, fact, pid) => {
        fc.pre(isSound(random));
        const before = leaksOf(random);
        const after = leaksOf(less(random, fact, pid));
        withheld += before.size - after.size;
        for (const leak of after) expect(before.has(leak), `${leak} without ${fact} of ${pid}`).toBe(true);
      },
    ),
    { numRuns: 1500 },
  );
  // It does take proofs away.
  expect(withheld).toBeGreaterThan(0);
});

test('a tmux server that does not answer, or a session file without its status, makes no leak', () => {
  fc.assert(
    fc.property(machine, random => {
      const silent = leaksOf({ ...random, reachable: false });
      const before = leaksOf(random);
      for (const leak of silent) expect(before.has(leak)).toBe(true);
    }),
    { numRuns: 300 },
  );
});
