import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Collector, type CollectorOptions, sampleWhole } from '../../src/engine/collector.ts';
import type { Call } from '../../src/model/call.ts';
import { DEFAULT_CONFIG } from '../../src/model/config-defaults.ts';
import type { ClaudeSession } from '../../src/model/observation.ts';
import type { ProcessFacts } from '../../src/model/process.ts';
import type { JudgedProcess } from '../../src/model/snapshot.ts';
import { FakeSystem } from '../act/fake-system.ts';
import { claude, IDLE } from '../judge/plan/idle-session.ts';
import { invent } from '../judge/plan/machine.ts';
import { Sandbox } from '../support/sandbox.ts';
import { session, tmux } from '../support/world.ts';
import { hurry, NO_RECORDS, Stage } from './stage.ts';

let sandbox: Sandbox;
let system: FakeSystem;
beforeEach(() => {
  sandbox = new Sandbox();
  system = new FakeSystem();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await sandbox.close();
});

const collectorFor = (more: Partial<CollectorOptions> = {}): Collector =>
  new Collector({
    system,
    config: DEFAULT_CONFIG,
    env: { HOME: sandbox.home },
    cwd: sandbox.path('work'),
    ...more,
  });
const addAgent = (facts: Partial<ProcessFacts> = {}): unknown =>
  system.add(1000, 800, { comm: 'claude', argv: ['claude'], ...facts });
const find = (processes: readonly JudgedProcess[], pid: number): JudgedProcess | undefined =>
  processes.find(({ facts }) => facts.pid === pid);

describe('a whole sample', () => {
  const whole = async (stage: Stage, all = true) => {
    hurry();
    const last = await sampleWhole(stage.collector, all);
    const begun = stage.looks[0]!.at;
    return { last, at: stage.looks.map(({ at }) => at - begun) };
  };
  const waiting = (unsampled: boolean): JudgedProcess => {
    const call = { id: 'toolu_1', unsampled } as unknown as Call;
    return claude({ session: { ...IDLE, calls: [call] } });
  };
  const doubtful = (unsampled: boolean): JudgedProcess =>
    invent(2000, 1, {
      verdict: 'suspect',
      doubt: { why: 'whether it works is not known yet', atWork: true, ...(unsampled && { unsampled }) },
    });

  it('is one look where nothing hangs on a second', async () => {
    const stage = new Stage().put(waiting(false)).put(doubtful(false));
    expect((await whole(stage)).at).toEqual([0]);
    expect(stage.looks).toMatchObject([{ all: true, alone: true }]);
    const some = new Stage();
    await whole(some, false);
    expect(some.looks).toMatchObject([{ all: false, alone: true }]);
  });

  it('is two looks, a second apart, where a verdict hangs on it', async () => {
    const stage = new Stage().put(doubtful(true));
    const { at, last } = await whole(stage);
    expect(at).toEqual([0, 1020]);
    expect(find(last.processes, 2000)).toBeDefined();
    expect(stage.looks).toMatchObject([
      { all: true, alone: true },
      { all: true, alone: true },
    ]);
  });

  it('is three where a call does, and each knows what the ones before showed', async () => {
    const stage = new Stage().put(waiting(true));
    const { at } = await whole(stage);
    expect(at).toEqual([0, 1020, 1420]);
    expect(stage.looks.every(({ all, alone }) => all === true && alone === true)).toBe(true);
    const [{ past } = {}] = stage.looks;
    expect(past).toBeDefined();
    expect(stage.looks.every(look => look.past === past)).toBe(true);
  });

  it('is two where the second look tells of the call', async () => {
    const stage = new Stage().put(waiting(true));
    stage.onLook = looks => {
      if (looks === 1) stage.put(waiting(false));
    };
    expect((await whole(stage)).at).toEqual([0, 1020]);
  });
});

describe('what decides about a signal', () => {
  it('is read anew when that is asked for, and only then', async () => {
    addAgent();
    const sampled = vi.spyOn(system, 'sample');
    const detailed = vi.spyOn(system, 'details');
    const collector = collectorFor();
    await collector.collect({ all: true });
    await collector.collect({ all: true, fresh: true });
    expect(sampled.mock.calls).toEqual([[{ whole: false }], [{ whole: true }]]);
    const asked = detailed.mock.calls.map(call => (call as unknown[])[1]);
    expect(new Set(asked.slice(0, asked.length / 2))).toEqual(new Set([{ fresh: false }]));
    expect(asked.at(-1)).toEqual({ fresh: true });
  });
});

describe('the session of an agent that has not written itself down', () => {
  const told: ClaudeSession = session(1000, 'from-the-hook', { procStart: 's1000' });
  const idAfter = async (known?: object): Promise<string | null | undefined> => {
    addAgent();
    if (known !== undefined)
      sandbox.write('home/.claude/sessions/1000.json', JSON.stringify({ pid: 1000, ...known }));
    const { processes } = await collectorFor({ alsoLive: [told] }).collect({ all: true });
    return find(processes, 1000)?.session?.id;
  };

  it('is what its own hook says', async () => {
    expect(await idAfter()).toBe('from-the-hook');
  });

  it('is what it has written as soon as it has', async () => {
    expect(await idAfter({ sessionId: 'written', procStart: 's1000' })).toBe('written');
  });

  it('is not what another wrote that had its number', async () => {
    expect(await idAfter({ sessionId: 'written', procStart: 's1' })).toBe('from-the-hook');
  });

  it('is one that it brings along with those of others', async () => {
    system.add(1100, 800, { comm: 'claude', argv: ['claude'] });
    const other = { pid: 1100, sessionId: 'of-another', procStart: 's1100' };
    sandbox.write('home/.claude/sessions/1100.json', JSON.stringify(other));
    addAgent();
    const { processes } = await collectorFor({ alsoLive: [told] }).collect({ all: true });
    expect([1000, 1100].map(pid => find(processes, pid)?.session?.id)).toEqual([
      'from-the-hook',
      'of-another',
    ]);
  });
});

describe('a server that a file configures', () => {
  const configure = (...programs: readonly string[]): void => {
    const mcpServers = Object.fromEntries(programs.map(name => [name, { command: `/opt/${name}` }]));
    sandbox.write('home/.claude.json', JSON.stringify({ mcpServers }));
  };
  const kindOf = async (collector: Collector, pid = 1001): Promise<string | undefined> =>
    find((await collector.collect({ all: true })).processes, pid)?.kind;
  beforeEach(() => {
    addAgent();
    system.add(1001, 1000, { comm: 'oddity', argv: ['/opt/oddity'] });
    system.add(1002, 1000, { comm: 'rarity', argv: ['/opt/rarity'] });
  });

  it('is one whatever it is called', async () => {
    expect(await kindOf(collectorFor())).toBe('other');
    configure('oddity');
    expect(await kindOf(collectorFor())).toBe('mcp');
  });

  it('is looked for again after ten seconds, and not with every look', async () => {
    configure('oddity');
    const collector = collectorFor();
    // What the projects of agents configure is read as soon as these are known.
    await collector.collect({ all: true });
    expect(await kindOf(collector, 1002)).toBe('other');
    configure('oddity', 'rarity');
    await system.clock.wait(9999);
    expect(await kindOf(collector, 1002)).toBe('other');
    await system.clock.wait(1);
    expect(await kindOf(collector, 1002)).toBe('mcp');
  });

  it('is not looked for without a home, nor on another machine', async () => {
    configure('oddity');
    expect(await kindOf(collectorFor({ env: {} }))).toBe('other');
    const place = tmux(4000, [1000]);
    Object.assign(system, { inventedRecords: () => ({ ...NO_RECORDS, tmux: [place] }) });
    const snapshot = await collectorFor().collect({ all: true });
    expect(find(snapshot.processes, 1001)?.kind).toBe('other');
    expect([snapshot.tmux, snapshot.warnings]).toEqual([[place], []]);
  });
});

it('what is wrong with a file is said with every look, and nothing where nothing is', async () => {
  addAgent();
  expect((await collectorFor().collect()).warnings).toEqual([]);
  const collector = collectorFor({ warnings: ['a project file was ignored'] });
  const many = Array.from({ length: 257 }, (_, n) => [`s${n}`, { command: `/opt/s${n}` }]);
  sandbox.write('work/.mcp.json', JSON.stringify({ mcpServers: Object.fromEntries(many) }));
  for (let look = 0; look < 2; look += 1) {
    const { warnings } = await collector.collect();
    expect(warnings[0]).toBe('a project file was ignored');
    expect(warnings.join()).toContain('work/.mcp.json');
  }
});

it('an agent under another name keeps its arguments: what it says of its session counts', async () => {
  const facts = { comm: 'cc', argv: ['/opt/cc', '--session-id', '5d1f0c3e-1111-4222-8333-444455556666'] };
  system.add(1000, 800, facts);
  const record = { pid: 1000, sessionId: 'mine', procStart: 's1000' };
  sandbox.write('home/.claude/sessions/1000.json', JSON.stringify(record));
  const { processes } = await collectorFor().collect({ all: true });
  expect(find(processes, 1000)).toMatchObject({
    agent: 'claude',
    seen: { sessionIds: ['5d1f0c3e-1111-4222-8333-444455556666'] },
  });
});

it('a file names no zombie, and on a machine without start times nobody', async () => {
  const record = { pid: 1000, sessionId: 'mine', procStart: 's1000' };
  sandbox.write('home/.claude/sessions/1000.json', JSON.stringify(record));
  const isAgent = async (facts: Partial<ProcessFacts>): Promise<boolean> => {
    system.add(1000, 800, { comm: 'cc', argv: ['/opt/cc'], ...facts });
    const { processes } = await collectorFor().collect({ all: true });
    return find(processes, 1000)?.agent === 'claude';
  };
  expect(await isAgent({})).toBe(true);
  expect(await isAgent({ state: 'Z' })).toBe(false);
  const sample = system.sample.bind(system);
  system.sample = async () => {
    const look = await sample();
    return { ...look, host: { ...look.host, backend: 'portable' } };
  };
  expect(await isAgent({})).toBe(false);
});
