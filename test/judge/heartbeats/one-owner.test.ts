import { describe, expect, it } from 'vitest';
import type { JoinedReading } from '../../../src/judge/heartbeats/join.ts';
import { withOneOwner } from '../../../src/judge/heartbeats/judge-files.ts';
import { DEFAULT_CONFIG } from '../../../src/model/config-defaults.ts';
import type { Reading } from '../../../src/model/heartbeat.ts';
import { planFor } from '../plan/sweep-scene.ts';
import { agent, file, type Props, sceneOf } from './scene.ts';

const DIR = '/p/specs/688_x';
const elsewhere = {
  cwd: '/q',
  swap: 0,
  cgroup: null,
  stdin: 'tty',
  lostTerminal: false,
  ignoresHangup: false,
  io: 0,
  listening: { ports: [], clients: 0 },
  uses: [],
} as const;
/** Its cwd is no help: it works in a directory of its own. */
const worker = agent(1200, {
  seen: { sessionIds: ['id-a'] },
  facts: { details: elsewhere },
});

const stale: readonly Reading[] = [
  file(`${DIR}/.diagnostic-lock`, 'diagnostic-lock', 60),
  file(`${DIR}/.postflight-pending`, 'postflight-marker', 400),
  file(`${DIR}/.postflight-loop-guard`, 'loop-guard', 400, { counters: { count: 3 } }),
];
const progress = file(`${DIR}/.agent-progress.json`, 'agent-progress', 5, { sessionId: 'id-a' });

const owners = (props: Props): (number | undefined)[] =>
  sceneOf(props).files.joined.map(({ agent: owner }) => owner?.facts.pid);
const swept = (props: Props): string[] => planFor(props).files.map(act => act.path);

describe('the files of one task directory', () => {
  it('have the owner that one of them names', () => {
    expect(owners({ readings: [progress, ...stale], processes: [worker] })).toEqual(Array(4).fill(1200));
    expect(owners({ readings: [progress, stale[0]!], processes: [worker] })).toEqual([1200, 1200]);
    expect(owners({ readings: stale, processes: [worker] })).toEqual(Array(3).fill(undefined));
  });

  it('are not swept while that owner lives', () => {
    expect(swept({ readings: [progress, ...stale], processes: [worker] })).toEqual([]);
    expect(swept({ readings: [progress, ...stale] })).toHaveLength(3);
  });

  it('are not shared with a neighbour', () => {
    const other = file('/p/specs/689_y/.diagnostic-lock', 'diagnostic-lock', 60);
    expect(swept({ readings: [progress, ...stale, other], processes: [worker] })).toEqual([other.path]);
  });

  it('are not shared with the log of another agent below it', () => {
    const log = file(`${DIR}/logs/a_stream.jsonl`, 'stream-log', 5, { agentId: 'a' });
    expect(owners({ readings: [progress, log], processes: [worker] })).toEqual([1200, undefined]);
  });

  it('count phases among them', () => {
    const phase = file(`${DIR}/progress/phase-1-progress.json`, 'phase-progress', 5, { sessionId: 'id-a' });
    expect(swept({ readings: [phase, ...stale], processes: [worker] })).toEqual([]);
  });

  it('take the surest word: a session id before a place', () => {
    const near = agent(1300, { ageSeconds: 3600 });
    expect(owners({ readings: [progress, ...stale], processes: [worker, near] })).toEqual(
      Array(4).fill(1200),
    );
  });

  it('take an agent that is too young for one of them, when it could have written another', () => {
    const young = agent(1400, { ageSeconds: 30 });
    const fresh = file(`${DIR}/.agent-progress.json`, 'agent-progress', 5);
    expect(swept({ readings: [fresh, ...stale], processes: [young] })).toEqual([]);
  });
});

describe('the files of one session id', () => {
  it('may all lie in one directory', () => {
    const named = stale.map(reading => ({ ...reading, sessionId: 'id-a' }));
    expect(owners({ readings: [progress, ...named], processes: [worker] })).toEqual(Array(4).fill(1200));
  });

  it('have one owner across directories', () => {
    const marker = file('/p/specs/.postflight-pending', 'postflight-marker', 400, { sessionId: 'sess_1' });
    const named = file(`${DIR}/.agent-progress.json`, 'agent-progress', 5, {
      sessionId: 'sess_1',
      pid: 1200,
    });
    const lock = file(`${DIR}/.diagnostic-lock`, 'diagnostic-lock', 60);
    expect(owners({ readings: [marker, named, lock], processes: [worker] })).toEqual([1200, 1200, 1200]);
    expect(swept({ readings: [marker, named, lock], processes: [worker] })).toEqual([]);
  });

  it('are found in one pass, however many there are', () => {
    let reads = 0;
    const joined = Array.from({ length: 20_000 }, (_, i): JoinedReading => {
      const reading = file(`/p/specs/${i}_x/.agent-progress.json`, 'agent-progress', 5, {
        sessionId: `s${i % 7}`,
      });
      return {
        get reading() {
          reads += 1;
          return reading;
        },
        ageSeconds: 5,
        agent: null,
        candidates: [],
        how: null,
      };
    });
    let found: readonly JoinedReading[] = [];
    const lookups = lookedUp(() => {
      found = withOneOwner(joined);
    });
    expect(found === joined).toBe(true);
    expect(lookups + reads).toBeLessThan(30 * joined.length);
  });
});

/** How often anything was looked up in a map meanwhile: work that is counted is the same on a busy machine. */
const lookedUp = (work: () => void): number => {
  const { get } = Map.prototype;
  let count = 0;
  Map.prototype.get = function (key: unknown) {
    count += 1;
    return get.call(this, key);
  };
  try {
    work();
  } finally {
    Map.prototype.get = get;
  }
  return count;
};

describe('sweep', () => {
  it("uses the project's own thresholds, as the findings do", () => {
    const patient = {
      ...DEFAULT_CONFIG,
      rootThresholds: new Map([
        ['/p', { 'marker-age': { criticalSeconds: 900 }, 'lock-stale': { seconds: 900 } }],
      ]),
    };
    expect(swept({ readings: stale })).toHaveLength(3);
    expect(swept({ readings: stale, config: patient })).toEqual([]);
  });
});
