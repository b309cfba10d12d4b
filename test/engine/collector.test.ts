import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Collector } from '../../src/engine/collector.ts';
import { DEFAULT_CONFIG } from '../../src/model/config-defaults.ts';
import { keyOf } from '../../src/model/identity.ts';
import type { ProcessDetails, ProcessFacts } from '../../src/model/process.ts';
import type { DetailRequest, System } from '../../src/observe/system.ts';
import { CLOCK, factsOf, type Row, SELF, UID } from '../support/world.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'reaptop-collector-'));
});
afterEach(() => rmSync(home, { recursive: true }));

const HOUSE: readonly Row[] = [
  [1, 0, '/sbin/init', { comm: 'systemd', born: 0 }],
  [800, 1, 'sshd', { uid: 0, born: 1 }],
  [801, 800, '-bash', { tty: 'pts/0', born: 2 }],
  [SELF, 801, 'node /usr/bin/reaptop'],
];

/** A machine that the test changes between looks; it notes what it was asked. */
class ScriptedSystem implements System {
  readonly backend = 'procfs';
  readonly readOnly = null;
  readonly environAsked: number[] = [];
  readonly detailsAsked: DetailRequest[] = [];
  followed: ReadonlySet<string> = new Set();
  clock = CLOCK;
  #facts = new Map<number, ProcessFacts>();

  /** Rows that say the same as before keep their objects, as the table of a real backend does. */
  show(...rows: readonly Row[]): void {
    const next = new Map<number, ProcessFacts>();
    for (const facts of [...HOUSE, ...rows].map(factsOf)) {
      const before = this.#facts.get(facts.pid);
      next.set(facts.pid, JSON.stringify(before) === JSON.stringify(facts) ? before! : facts);
    }
    this.#facts = next;
  }

  async sample() {
    this.clock += 2;
    return {
      takenAt: this.clock * 1000,
      clock: this.clock,
      host: {
        name: 'scripted',
        platform: 'linux',
        backend: 'procfs' as const,
        container: false,
        bootId: null,
        memTotal: null,
        memAvailable: null,
        swapUsed: null,
      },
      self: { pid: SELF, uid: UID, pgid: SELF, cgroup: null },
      processes: [...this.#facts.values()]
        .map(facts => ({ ...facts, env: null, details: null }))
        .map(this.#same),
      complete: true,
      warnings: [],
    };
  }

  readonly #shown = new Map<string, ProcessFacts>();
  readonly #same = (facts: ProcessFacts): ProcessFacts => {
    const key = JSON.stringify(facts);
    const known = this.#shown.get(key) ?? facts;
    this.#shown.set(key, known);
    return known;
  };

  async environ(targets: readonly { pid: number; start: string }[]) {
    this.environAsked.push(...targets.map(t => t.pid));
    return new Map(
      targets.flatMap(t => {
        const env = this.#facts.get(t.pid)?.env;
        return env == null ? [] : [[keyOf(t), env] as const];
      }),
    );
  }

  async details(requests: readonly DetailRequest[]) {
    this.detailsAsked.push(...requests);
    return new Map(requests.map(r => [keyOf(r), this.#facts.get(r.pid)?.details as ProcessDetails]));
  }

  async presence() {
    return { status: 'gone' as const };
  }
  async proportionalMemory() {
    return null;
  }
  follow(related: ReadonlySet<string>): void {
    this.followed = related;
  }
  close(): void {}
}

const collectorFor = (system: System): Collector =>
  new Collector({ system, config: DEFAULT_CONFIG, env: { HOME: home }, cwd: home });

const write = (path: string, value: unknown): void => {
  mkdirSync(join(home, path, '..'), { recursive: true });
  writeFileSync(join(home, path), JSON.stringify(value));
};

const AGENT: Row = [1000, 801, 'claude', { tty: 'pts/0', sid: 801 }];

describe('Claude under another file name', () => {
  const renamed: Row = [1000, 801, '/opt/tools/cc --model opus', { tty: 'pts/0', sid: 801 }];
  const kinds = async (procStart: string, row: Row = renamed) => {
    write('.claude/sessions/1000.json', { pid: 1000, sessionId: 'mine', procStart, cwd: '/work' });
    const system = new ScriptedSystem();
    const collector = collectorFor(system);
    system.show(row, [1001, 1000, 'sh -c yes'], [1002, 1001, 'yes']);
    await collector.collect();
    const { processes } = await collector.collect();
    return processes.map(({ facts, kind, owner }) => [facts.pid, kind, owner?.pid ?? null]);
  };

  it('is an agent when its own session file names it by pid and start', async () => {
    expect(await kinds('100000')).toEqual([
      [1000, 'agent', 1000],
      [1001, 'wrapper', 1000],
      [1002, 'other', 1000],
    ]);
  });

  it('is not when the file speaks of another process that had its number', async () => {
    expect(await kinds('99999')).toEqual([]);
  });

  it('is what it looks like where it looks like something: a shell that took its pid over', async () => {
    const shell: Row = [1000, 801, 'bash', { tty: 'pts/0', sid: 801 }];
    expect((await kinds('100000', shell)).filter(([pid]) => pid === 1000)).not.toContainEqual([
      1000,
      'agent',
      1000,
    ]);
  });
});

describe('look after look', () => {
  it('what ran below an agent is still its own after the agent ended', async () => {
    const system = new ScriptedSystem();
    const collector = collectorFor(system);
    system.show(AGENT, [1001, 1000, 'sh -c yes'], [1002, 1001, 'yes']);
    expect((await collector.collect()).processes.find(p => p.facts.pid === 1002)?.verdict).toBe('live');
    system.show([1002, 1, 'yes']);
    expect((await collector.collect()).processes).toMatchObject([
      { facts: { pid: 1002 }, verdict: 'leak', owner: { pid: 1000, how: 'lineage', alive: false } },
    ]);
    system.show();
    await collector.collect();
    expect(collector.lineage.entries().size).toBe(0);
  });

  it('what others saw below an agent is its own as well, whatever they have to say about their files', async () => {
    const system = new ScriptedSystem();
    const entry = { owner: '1000:100000', sessionId: null, parent: null };
    const told = [[['1002:100200', entry] as const], []];
    const memory = { recall: () => ({ entries: told.shift() ?? [], warnings: ['one line is torn'] }) };
    const collector = new Collector({
      system,
      config: DEFAULT_CONFIG,
      env: { HOME: home },
      cwd: home,
      memory,
    });
    system.show([1002, 1, 'yes'], [1003, 1, 'yes']);
    for (const look of ['first', 'second']) {
      const { processes, warnings } = await collector.collect();
      expect(processes, look).toMatchObject([
        { facts: { pid: 1002 }, verdict: 'leak', owner: { how: 'lineage' } },
      ]);
      expect(warnings).toContain('one line is torn');
    }
  });

  it('a bystander that becomes an agent, or an orphan with an agent’s variables, is noticed', async () => {
    const system = new ScriptedSystem();
    const collector = collectorFor(system);
    system.show([1000, 801, 'sh run.sh'], [1001, 1000, 'java'], [1500, 801, 'make']);
    expect((await collector.collect()).processes).toEqual([]);
    expect((await collector.collect()).processes).toEqual([]);
    const env = { CLAUDE_CODE_SESSION_ID: 'dead' };
    system.show([1000, 801, 'claude'], [1001, 1000, 'java'], [1500, 1, 'make', { env }]);
    const { processes } = await collector.collect();
    expect(processes.map(p => [p.facts.pid, p.verdict])).toEqual(
      expect.arrayContaining([
        [1000, 'live'],
        [1001, 'live'],
      ]),
    );
    // 1000 has told nobody its session and is older: not proven.
    expect(processes.find(p => p.facts.pid === 1500)?.verdict).toBe('suspect');
  });

  it('asks for an environment once per identity, and again after an exec', async () => {
    const system = new ScriptedSystem();
    const collector = collectorFor(system);
    const asked = async (): Promise<number> => {
      system.environAsked.length = 0;
      await collector.collect();
      return system.environAsked.filter(pid => pid === 1500).length;
    };
    system.show([1500, 1, 'sh -c work']);
    expect([await asked(), await asked()]).toEqual([1, 0]);
    system.show([1500, 1, 'java -jar x.jar']);
    expect([await asked(), await asked()]).toEqual([1, 0]);
    system.show([1500, 1, 'java -jar x.jar', { start: 'recycled' }]);
    expect(await asked()).toBe(1);
  });

  it('asks no environment of other users, and of what a terminal holds', async () => {
    const system = new ScriptedSystem();
    system.show([1500, 1, 'java', { uid: 1001 }], [1501, 801, 'java', { tty: 'pts/0' }]);
    await collectorFor(system).collect();
    expect(system.environAsked).toEqual([]);
  });

  it('asks for details of, and follows, related processes only', async () => {
    const system = new ScriptedSystem();
    system.show(AGENT, [1001, 1000, 'lean-lsp-mcp'], [1500, 1, 'nginx']);
    await collectorFor(system).collect();
    expect(new Set(system.detailsAsked.map(r => r.pid))).toEqual(new Set([1000, 1001]));
    expect(system.followed).toEqual(new Set(['1000:100000', '1001:100100']));
  });
});

describe('what an agent without a registry is doing', () => {
  const doing = async (system: ScriptedSystem, pid = 1000) => {
    const { processes } = await collectorFor(system).collect();
    const session = processes.find(p => p.facts.pid === pid)?.session;
    return { doing: session?.doing, seconds: session?.seconds };
  };
  const log = (secondsAgo: number): string => {
    const now = new Date(CLOCK * 1000);
    const day = `1970/01/0${now.getDate()}`; // of the machine's own time zone
    const path = join(home, '.codex/sessions', day, 'rollout-a.jsonl');
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, '{"type":"session_meta","payload":{"cwd":"/home/me/project"}}');
    utimesSync(path, CLOCK + 2 - secondsAgo, CLOCK + 2 - secondsAgo);
    return path;
  };

  it.each([
    [5, { doing: 'busy', seconds: 5 }],
    [2400, { doing: 'idle', seconds: 2400 }],
  ])('its own log, written to %s s ago, tells', async (secondsAgo, told) => {
    const system = new ScriptedSystem();
    const holds = [log(secondsAgo)];
    system.show([1000, 801, 'codex', { tty: 'pts/0', details: { holds } }]);
    expect(await doing(system)).toEqual(told);
    expect(system.detailsAsked.find(r => r.pid === 1000)?.holds?.test(holds[0]!)).toBe(true);
  });

  it('one that it does not hold is found by the directory it names', async () => {
    const system = new ScriptedSystem();
    log(2400);
    system.show([1000, 801, 'codex', { tty: 'pts/0', env: { HOME: home } }]);
    expect(await doing(system)).toEqual({ doing: 'idle', seconds: 2400 });
  });

  it('the log of another user’s agent is neither asked for nor looked at', async () => {
    const system = new ScriptedSystem();
    const holds = [log(5)];
    system.show([1000, 801, 'codex', { tty: 'pts/0', uid: 4711, details: { holds } }]);
    expect(await doing(system)).toEqual({ doing: null, seconds: null });
    expect(system.detailsAsked.find(r => r.pid === 1000)).not.toHaveProperty('holds');
  });
});

describe('what the files say', () => {
  it('a server that the agent’s own project configures is recognised', async () => {
    const project = join(home, 'project');
    write('project/.mcp.json', { mcpServers: { mine: { command: 'node', args: ['thing.js', '--stdio'] } } });
    const system = new ScriptedSystem();
    const details = { cwd: project };
    system.show(
      [1000, 801, 'claude', { tty: 'pts/0', details }],
      [1001, 1000, 'node thing.js --stdio', { details }],
    );
    const { processes } = await collectorFor(system).collect();
    expect(processes.map(p => [p.facts.pid, p.kind])).toEqual([
      [1000, 'agent'],
      [1001, 'mcp'],
    ]);
  });

  it('the sessions of every agent’s own configuration directory count', async () => {
    write('elsewhere/sessions/1000.json', { pid: 1000, sessionId: 'mine', procStart: '100000' });
    const system = new ScriptedSystem();
    const config = { CLAUDE_CONFIG_DIR: join(home, 'elsewhere') };
    system.show(
      [1000, 801, 'claude', { env: config }],
      [1500, 1, 'java', { env: { CLAUDE_CODE_SESSION_ID: 'mine' } }],
    );
    const { processes } = await collectorFor(system).collect();
    expect(processes.find(p => p.facts.pid === 1500)).toMatchObject({
      verdict: 'live',
      owner: { pid: 1000, how: 'environ' },
    });
  });
});

it('a listing that fails is an error, never an empty machine', async () => {
  const system = new ScriptedSystem();
  system.sample = async () => {
    throw new Error('/proc lists no processes: it is not mounted.');
  };
  await expect(collectorFor(system).collect()).rejects.toThrow('not mounted');
});
