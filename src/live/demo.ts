import { Collector, type LineageMemory } from '../collect/collector.ts';
import { type Config, DEFAULT_CONFIG } from '../model/config.ts';
import { keyOf } from '../model/identity.ts';
import { INVENTED_HOME, INVENTED_NOW, INVENTED_PROCESSES, startOf } from '../observe/invented/machine.ts';
import { type InventedOptions, type InventedSystem, inventedSystem } from '../observe/invented/system.ts';
import type { LogLine } from './live.ts';
import { LiveEngine } from './live-engine.ts';

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

/** What was seen before the screen opens: plots, growth and silence are told from a past. */
const REHEARSAL_SECONDS = 700;

/** How long one that is told to end takes, so that a plan can be watched at work. */
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
            { owner, sessionId: 'c0ffee12-0b57-4f6e-8f5d-90d2be11a7f3', parent: owner },
          ] as const,
        ];
  return { recall: () => ({ entries, warnings: [] }) };
};

const HOUR = 3_600_000;
const LOG: readonly LogLine[] = [
  { at: INVENTED_NOW - 3 * HOUR, text: 'guard: 4 ended, 512 MiB back', tone: 'plain' },
  { at: INVENTED_NOW - HOUR / 2, text: 'clean: 1 ended, 1 survived, 96 MiB back', tone: 'plain' },
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
