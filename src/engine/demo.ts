import type { RememberedSession } from '../model/asleep.ts';
import type { Config } from '../model/config.ts';
import { DEFAULT_CONFIG } from '../model/config-defaults.ts';
import { keyOf } from '../model/identity.ts';
import { OUTCOMES } from '../model/plan.ts';
import { spellBytes } from '../model/units.ts';
import { INVENTED_HOME, INVENTED_NOW, INVENTED_PROCESSES, startOf } from '../observe/invented/machine.ts';
import { type InventedOptions, type InventedSystem, inventedSystem } from '../observe/invented/system.ts';
import { Collector, type LineageMemory } from './collector.ts';
import { LiveEngine } from './live-engine.ts';
import type { LogLine, LogRow } from './live-state.ts';
import { actText } from './log.ts';

export interface DemoOptions extends InventedOptions {
  readonly intervalSeconds?: number | undefined;
  readonly all?: boolean;
  /** false: time stands still until `tick` is called. */
  readonly ticking?: boolean;
  /** How many looks there were in the ten minutes before the screen opens. */
  readonly looks?: number;
  readonly graceMs?: number;
  readonly config?: Config;
}

export interface Demo {
  readonly live: LiveEngine;
  readonly system: InventedSystem;
  /** Lets `seconds` of the invented time pass, and looks again. */
  tick(seconds: number): Promise<void>;
}

/** What was seen before the screen opens: plots, growth and silence need a past. */
const REHEARSAL_SECONDS = 700;

/** How long a process takes to end, so that a plan can be watched at work. */
const ENDS_AFTER_MS = 350;

/** What guard would have written down: a server seen below an agent that is gone. */
const memory = (): LineageMemory => {
  const orphan = INVENTED_PROCESSES.find(p => p.pid === 3402);
  const owner = keyOf({ pid: 2988, start: '251999988' });
  const entries =
    orphan === undefined
      ? []
      : [
          [
            keyOf({ pid: orphan.pid, start: startOf(orphan) }),
            {
              owner,
              sessionId: 'c0ffee12-0b57-4f6e-8f5d-90d2be11a7f3',
              family: 'claude',
              project: 'sphere-packing',
              parent: owner,
            },
          ] as const,
        ];
  return { recall: () => ({ entries, warnings: [] }) };
};

const HOUR = 3_600_000;
const MIB = 1024 ** 2;

/** What others have done on this machine earlier today. */
const act = (hoursAgo: number, by: string, why: string, rows: readonly LogRow[]): LogLine => {
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
  const told = OUTCOMES.flatMap(kind => {
    const count = rows.filter(({ what }) => what === kind).length;
    return count === 0 ? [] : [`${count} ${kind}`];
  });
  return {
    at: INVENTED_NOW - hoursAgo * HOUR,
    text: actText(by, `${told.join(', ')}, ${spellBytes(bytes)} freed`, rows),
    tone: rows.some(({ what }) => what === 'survived') ? 'bad' : 'plain',
    entry: { by, why, rows, note: null },
  };
};
const gone = (pid: number, name: string, mib: number): LogRow => ({
  what: 'ended',
  pid,
  name,
  bytes: mib * MIB,
  why: 'ended after SIGTERM',
});
const LOG: readonly LogLine[] = [
  act(3, 'guard', 'policy: proven leaks', [
    gone(2214, 'chroma-mcp', 301),
    gone(2215, 'npm exec chroma-mcp', 64),
    gone(2302, 'lean-lsp-mcp', 110),
    gone(2311, 'lake serve', 37),
  ]),
  act(0.5, 'clean', 'clean --age-threshold 1 --force', [
    gone(2790, 'mcp-server-memory', 96),
    { ...gone(2801, 'mcp-server-git', 0), what: 'survived', why: 'it is in state D: SIGKILL waits' },
  ]),
];

/** Two sessions that were put to sleep, and whose shells still run in their panes. */
const sleeping = (
  hoursAgo: number,
  pid: number,
  project: string,
  name: string,
  id: string,
  mib: number,
  pane: string,
): RememberedSession => ({
  agent: 'claude',
  state: 'asleep',
  at: INVENTED_NOW - hoursAgo * HOUR,
  pid,
  start: String(pid),
  id,
  project,
  name,
  cwd: `${INVENTED_HOME}/src/${project}`,
  tmux: { socket: '/tmp/tmux-1000/default', session: 'main', pane, server: 1201 },
  bytes: mib * MIB,
  resume: `claude --resume ${id}`,
  boot: null,
  registry: null,
});
const ASLEEP: readonly RememberedSession[] = [
  sleeping(2, 1611, 'invoices', 'refund mails', '6a0d4f1e-92b7-4c3d-8e15-7b9c0d1e2f34', 612, '%6'),
  sleeping(7, 1655, 'prices-api', 'rate limits', 'b2c3d4e5-f607-4819-a2b3-c4d5e6f70819', 447, '%7'),
];

/** `--demo`: the engine as it is, over an invented machine. Nothing real is looked at, signalled or written. */
export const startDemo = async (options: DemoOptions = {}): Promise<Demo> => {
  const { intervalSeconds = 2, all = false, ticking = true, looks = 35, graceMs } = options;
  const apart = REHEARSAL_SECONDS / looks;
  const pace = (): Promise<unknown> => new Promise(resolve => setTimeout(resolve, ENDS_AFTER_MS));
  const system = inventedSystem({ pace, ...options });
  const env = { HOME: INVENTED_HOME };
  const config = options.config ?? DEFAULT_CONFIG;
  const collector = new Collector({ system, config, env, cwd: INVENTED_HOME, memory: memory() });
  system.pass(-REHEARSAL_SECONDS);
  const live = await LiveEngine.start({
    collector,
    system,
    config,
    env,
    intervalSeconds,
    all,
    graceMs,
    log: LOG,
    asleep: ASLEEP,
    stateDirectory: null,
    byHand: true,
  });
  const tick = async (seconds: number): Promise<void> => {
    system.pass(seconds);
    await live.refresh();
  };
  for (let look = 0; look < looks; look += 1) await tick(apart);
  if (ticking) live.startLooking(() => system.pass(live.getState().intervalSeconds));
  return { live, system, tick };
};
