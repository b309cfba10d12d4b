import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Lineage } from '../../src/judge/rules/lineage.ts';
import { isRunningAgent, startedAfter } from '../../src/judge/rules/tree.ts';
import { ancestorsOf } from '../../src/model/forest.ts';
import type { Backend } from '../../src/model/observation.ts';
import type { Activity, Listening, NamedEnv, Use } from '../../src/model/process.ts';
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
    fc.tuple(fc.constantFrom(...PIDS), fc.constantFrom(...IDS), fc.constantFrom('busy', 'idle', null)),
    { maxLength: 4 },
  ),
  panes: fc.array(fc.constantFrom(...PIDS), { maxLength: 4 }),
  server: fc.constantFrom(...PIDS),
  reachable: fc.boolean(),
  strange: fc.constant<readonly number[]>([]),
  sessionStarts: fc.constant<boolean>(true),
  ledger: fc.array(fc.tuple(fc.constantFrom(...PIDS), fc.constantFrom(...PIDS), fc.boolean()), {
    maxLength: 6,
  }),
});

type Machine = typeof machine extends fc.Arbitrary<infer T> ? T : never;

const build = ({
  rows,
  container,
  backend,
  sessions,
  panes,
  server,
  reachable,
  strange,
  sessionStarts,
  ledger,
}: Machine): World => {
  const lineage = new Lineage();
  lineage.adopt(
    ledger.map(([pid, owner, same]) => [
      `${pid}:${pid}00`,
      { owner: `${owner}:${same ? `${owner}00` : '7'}`, sessionId: null, parent: null },
    ]),
  );
  return world(rows, {
    config: { protect: ['--keep'] },
    host: { container, backend },
    self: backend === 'recorded' ? null : { pid: SELF, uid: UID, pgid: SELF, cgroup: null },
    sessions: sessions.map(([pid, id, status]) =>
      session(pid, id, sessionStarts ? { status } : { status, procStart: null }),
    ),
    tmux: [tmux(server, panes, { reachable })],
    strange: strange.map(pid => ({ pid, path: `/home/me/.claude/sessions/${pid}.json` })),
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

/** A process about which less is known: every fact that may be missing. */
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

/** A machine about which less is known: its tmux, and what Claude writes about its sessions. */
const WITHHELD_FILES: Readonly<Record<string, (random: Machine) => Machine>> = {
  tmux: random => ({ ...random, reachable: false, panes: [] }),
  'session file': random => ({ ...random, sessions: [] }),
  'session status': random => ({
    ...random,
    sessions: random.sessions.map(([pid, id]) => [pid, id, null]),
  }),
  'session start': random => ({ ...random, sessionStarts: false }),
  'session format': random => ({ ...random, sessions: [], strange: random.sessions.map(([pid]) => pid) }),
};

const leaksOf = (random: Machine): ReadonlySet<number> =>
  new Set(
    build(random)
      .snapshot.processes.filter(p => p.verdict === 'leak')
      .map(p => p.facts.pid),
  );

/** What is not known of one process, or of all. */
const less = (random: Machine, fact: string, pid: number | null): Machine => {
  const files = WITHHELD_FILES[fact];
  if (files !== undefined) return files(random);
  return {
    ...random,
    rows: random.rows.map((row): Row => {
      const [own, ppid, command, more = {}] = row;
      if (fact === 'ppid') return own === pid ? [own, null, command, more] : row;
      const without = fact === 'everything' ? () => UNREADABLE : WITHHELD[fact]!;
      return pid === null || pid === own ? [own, ppid, command, without(more)] : row;
    }),
  };
};

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
    { numRuns: 1000 },
  );
  // It does take proofs away.
  expect(withheld).toBeGreaterThan(0);
});

test('a tmux server that does not answer makes no leak', () => {
  fc.assert(
    fc.property(machine, random => {
      const silent = leaksOf({ ...random, reachable: false });
      const before = leaksOf(random);
      for (const leak of silent) expect(before.has(leak)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

/** Machines with a tree that would be leaked, but for one fact: that one withheld must not make it a leak. */
const [LIVE, TMUX, MANAGER, TERMINAL, GONE] = [100, 101, 102, 103, 99];
const CHAIN = [110, 111, 112];

type Edit = Partial<Omit<Machine, 'rows'>> & {
  readonly at?: number;
  readonly command?: string;
  readonly below?: number;
  readonly extra?: Extra;
  /** Of the whole chain. */
  readonly all?: Extra;
};

const marksOf = (pid: number): NamedEnv => ({ CLAUDECODE: '1', CLAUDE_PID: String(pid) });
const namesSession: NamedEnv = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'one' };

/** Why a process is leaked, for whatever kinds that is a proof of. */
const PROOFS: readonly {
  readonly commands: readonly string[];
  readonly extra: Extra;
  readonly seen?: true;
}[] = [
  {
    commands: ['node /opt/mcp-server-github', 'npx -y chroma-mcp', 'lean-lsp-mcp', 'lake serve'],
    extra: { details: { stdin: 'abandoned-pipe' } },
  },
  {
    commands: ['chrome --remote-debugging-pipe --user-data-dir=/tmp/x'],
    extra: { details: { stdin: 'pipe', drivingPipe: 'abandoned-pipe' } },
  },
  {
    commands: ['firefox -juggler-pipe -profile /tmp/x'],
    extra: { details: { stdin: 'pipe', drivingPipe: 'abandoned-socket' } },
  },
  { commands: ['codex exec x', 'lake build'], extra: { details: { stdin: 'pipe', lostTerminal: true } } },
  {
    commands: ['chroma-mcp', 'lake build', 'codex exec x', 'java -jar x.jar', 'npm exec chroma-mcp'],
    extra: { env: marksOf(GONE), details: { stdin: 'pipe' } },
  },
  { commands: ['java -jar x.jar', 'java -jar x.jar', 'chroma-mcp'], extra: { env: marksOf(GONE) } },
  {
    commands: ['chroma-mcp', 'lake build', 'codex exec x', 'java -jar x.jar', 'claude'],
    extra: { details: { stdin: 'pipe' } },
    seen: true,
  },
];

/** What speaks against it, by the fact that tells it; of the process itself unless `at` says of another. */
const AGAINST: readonly (readonly [fact: string, Edit])[] = [
  ...(
    [
      ['listening', { listening: { ports: [80], clients: 1 } }],
      ['listening', { listening: { ports: [80], clients: 0 } }],
      ['uses', { uses: [{ how: 'unix-listener', what: '/s' }] }],
      ['uses', { uses: [{ how: 'unix-client', what: '/s' }] }],
      ['uses', { uses: [{ how: 'socket-pair', what: '7' }] }],
      ['uses', { uses: [{ how: 'window', what: 'X0' }] }],
      ['uses', { uses: [{ how: 'device', what: '/dev/kvm' }] }],
      ['uses', { uses: [{ how: 'terminal', what: 'pts/1' }] }],
      ['uses', { uses: [{ how: 'on-terminal', what: 'pts/1' }] }],
      ['cgroup', { cgroup: '/system.slice/x.service' }],
      ['cgroup', { cgroup: '/user.slice/run-7.scope' }],
      ['ignoresHangup', { ignoresHangup: true }],
      ['stdin', { stdin: 'pipe' }],
      ['stdin', { stdin: 'tty' }],
      ['drivingPipe', { drivingPipe: 'pipe' }],
      ['lostTerminal', { lostTerminal: false }],
      ['realUid', { realUid: 1001 }],
      ['details', { innerPid: 3 }],
      ['details', { outputAt: CLOCK * 1000 }],
      ['born', { outputAt: CLOCK * 1000 }],
    ] as const
  ).map(([fact, details]) => [fact, { extra: { details } }] as const),
  ['uid', { extra: { uid: 1001 } }],
  ['pgid', { extra: { pgid: SELF } }],
  ['activity', { extra: { activity: { cpu: 5, bytes: 0 } } }],
  ['activity', { extra: { activity: { cpu: 0, bytes: 9 } } }],
  ['argv', { command: 'lean-lsp-mcp --transport sse' }],
  ['argv', { command: 'claude daemon run' }],
  ['argv', { command: 'java -jar x.jar --daemon' }],
  ['env', { extra: { env: marksOf(LIVE) } }],
  ['env', { extra: { env: namesSession }, sessions: [[LIVE, 'one', 'idle']] }],
  ['session file', { extra: { env: namesSession }, sessions: [[LIVE, 'one', 'idle']] }],
  ['session format', { extra: { env: namesSession }, sessions: [[LIVE, 'one', 'idle']] }],
  ['session status', { command: 'claude', sessions: CHAIN.map(pid => [pid, `s${pid}`, 'busy']) }],
  ['session format', { command: 'claude', sessions: CHAIN.map(pid => [pid, `s${pid}`, 'busy']) }],
  ['session start', { command: 'claude', sessions: CHAIN.map(pid => [pid, `s${pid}`, 'busy']) }],
  ['session start', { extra: { env: namesSession }, sessions: [[LIVE, 'one', 'idle']] }],
  ['ppid', { below: LIVE }],
  ['argv', { command: 'sh -c x --keep' }],
  ['everything', { at: LIVE, ledger: CHAIN.map(pid => [pid, LIVE, true]) }],
  ['everything', { at: LIVE, all: { env: namesSession }, sessions: [[LIVE, 'one', 'idle']] }],
  ['env', { at: MANAGER, extra: { env: marksOf(GONE) } }],
  ['env', { at: TERMINAL, extra: { env: marksOf(GONE) } }],
  ['tmux', { at: CHAIN[0]!, below: TMUX, panes: [LIVE, CHAIN[0]!] }],
];

const merged = (a: Extra, b: Extra): Extra => ({
  ...a,
  ...b,
  ...(a.details == null || b.details === null ? {} : { details: { ...a.details, ...b.details } }),
});

const UNPROVEN: Extra = { details: { stdin: 'pipe', drivingPipe: 'pipe' } };

const nearLeak = fc
  .record({
    proof: fc.constantFrom(...PROOFS),
    against: fc.constantFrom(...AGAINST),
    commands: fc.array(fc.nat(), { minLength: CHAIN.length, maxLength: CHAIN.length }),
    length: fc.constantFrom(1, 2, 2, 3),
    where: fc.nat(),
    adopter: fc.constantFrom(1, MANAGER, TMUX),
    // The first that a proof is of: what is above it may hold it.
    from: fc.constantFrom(0, 1),
    // A fact of /proc/PID/fd is missing by itself, or with all others that are costlier to read.
    allDetails: fc.boolean(),
  })
  .map(({ proof, against: [told, edit], commands, length, where, adopter, from, allDetails }) => {
    const fact = allDetails && edit.extra?.details != null ? 'details' : told;
    const { at = CHAIN[where % length]!, command, below, extra = {}, all = {}, ...around } = edit;
    const changed = (row: Row): Row =>
      row[0] === at ? [row[0], below ?? row[1], command ?? row[2], merged(row[3] ?? {}, extra)] : row;
    let ordinaryAbove = false;
    const chain = CHAIN.slice(0, length).map((pid, n): Row => {
      // Below an ordinary program, environments of ordinary programs are never read.
      const fitting = proof.commands.filter(one => !ordinaryAbove || !one.startsWith('java'));
      const of = fitting[commands[n]! % fitting.length]!;
      ordinaryAbove ||= of.startsWith('java');
      return [pid, n === 0 ? adopter : CHAIN[n - 1]!, of, merged(n < from ? UNPROVEN : proof.extra, all)];
    });
    const random: Machine = {
      container: false,
      backend: 'procfs',
      sessions: [],
      panes: [LIVE],
      server: TMUX,
      reachable: true,
      strange: [],
      sessionStarts: true,
      ledger: proof.seen === true ? CHAIN.slice(from).map(pid => [pid, GONE, true]) : [],
      ...around,
      rows: [
        [LIVE, TMUX, 'claude', { tty: 'pts/0', born: 5 }],
        [TMUX, 1, 'tmux new -s x', { born: 4 }],
        [MANAGER, 1, '/lib/systemd/systemd --user', { born: 3 }],
        [TERMINAL, 1, 'gnome-terminal-server', { born: 3 }],
        ...chain,
      ].map(row => changed(row as Row)),
    };
    return { random, fact, at };
  });

test('the one fact that speaks against a leak makes none when it is withheld', () => {
  let near = 0;
  fc.assert(
    fc.property(nearLeak, ({ random, fact, at }) => {
      // Whoever was seen below an agent belongs to that one, whatever lists itself.
      fc.pre(fact !== 'session file' || random.ledger.length === 0);
      const before = leaksOf(random);
      near += before.size < 1 ? 1 : 0;
      for (const pid of [at, null])
        for (const leak of leaksOf(less(random, fact, pid)))
          expect(before.has(leak), `${leak} without ${fact} of ${pid}`).toBe(true);
    }),
    { numRuns: 4000 },
  );
  expect(near).toBeGreaterThan(0);
});
