import { describe, expect, test } from 'vitest';
import { NewsDesk } from '../../src/engine/alerts.ts';
import type { Finding } from '../../src/model/finding.ts';
import type { AgentSession, Snapshot } from '../../src/model/snapshot.ts';

/** The desk looks at the time, the findings and what agents say of themselves. */
const BASE = { takenAt: 1_800_000_000_000, findings: [], processes: [] } as unknown as Snapshot;
const finding = (pids: readonly number[], change: Partial<Finding> = {}): Finding => ({
  id: 'leak',
  severity: 'critical',
  title: `${pids.length} leaked`,
  why: 'why',
  processes: pids.map(pid => ({ pid, start: '1' })),
  files: [],
  remedy: 'c',
  action: 'clean',
  ...change,
});
const at = (seconds: number, ...findings: readonly Finding[]): Snapshot => ({
  ...BASE,
  takenAt: BASE.takenAt + seconds * 1000,
  findings,
});
const titles = (desk: NewsDesk, snapshot: Snapshot): string[] => desk.look(snapshot).map(news => news.title);

describe('a finding is news', () => {
  test('when it becomes critical, and not at the next refresh', () => {
    const desk = new NewsDesk();
    expect(titles(desk, at(0, finding([7], { severity: 'warn' })))).toEqual([]);
    expect(titles(desk, at(2, finding([7])))).toEqual(['1 leaked']);
    expect(titles(desk, at(4, finding([7])))).toEqual([]);
  });

  test('no more when its processes come and go, one by one', () => {
    const desk = new NewsDesk();
    desk.look(at(0, finding([7])));
    expect(titles(desk, at(2, finding([7, 8])))).toEqual([]);
    expect(titles(desk, at(4, finding([8])))).toEqual([]);
    expect(titles(desk, at(6, finding([9])))).toEqual(['1 leaked']);
  });

  test('not again when it swings at its threshold, but after ten minutes away', () => {
    const desk = new NewsDesk();
    desk.look(at(0, finding([7])));
    for (let s = 2; s < 60; s += 4) {
      desk.look(at(s));
      expect(titles(desk, at(s + 2, finding([7])))).toEqual([]);
    }
    // Last seen at 60: forgotten ten minutes later, and not before.
    desk.look(at(659));
    expect(titles(desk, at(659.5, finding([7])))).toEqual([]);
    desk.look(at(1259.5));
    expect(titles(desk, at(1260, finding([7])))).toEqual(['1 leaked']);
  });

  test('beside another finding of the same process', () => {
    const desk = new NewsDesk();
    const zombie = finding([7], { id: 'zombie', title: 'a zombie' });
    desk.look(at(0, finding([7])));
    expect(titles(desk, at(2, finding([7]), zombie))).toEqual(['a zombie']);
    expect(titles(desk, at(4, finding([7]), zombie))).toEqual([]);
  });

  test('by its files where it has no process, and beside another of the same kind', () => {
    const desk = new NewsDesk();
    const lock = (file: string) => finding([], { id: 'lock-stale', files: [file], title: file });
    expect(titles(desk, at(0, lock('/a'), lock('/b')))).toEqual(['/a', '/b']);
    expect(titles(desk, at(2, lock('/a'), lock('/b'), lock('/c')))).toEqual(['/c']);
  });
});

describe('an agent that waits is news', () => {
  const agent = { name: 'claude', facts: { pid: 7, start: '1' } } as unknown as Snapshot['processes'][number];
  const doing = (seconds: number, now: AgentSession['doing']): Snapshot => ({
    ...at(seconds),
    processes: [
      {
        ...agent,
        session: {
          id: 's',
          project: 'proofs',
          name: null,
          doing: now,
          waitingFor: 'permission prompt',
          seconds: 1,
        },
      },
    ],
  });

  test('once until it was answered, and again when it asks again', () => {
    const desk = new NewsDesk();
    const [news] = desk.look(doing(0, 'waiting'));
    expect(news).toMatchObject({ id: 'agent-waits', why: 'its own session file says: permission prompt' });
    expect(news!.title).toMatch(/in proofs waits for you$/);
    expect(desk.look(doing(2, 'waiting'))).toEqual([]);
    expect(desk.look(doing(4, 'busy'))).toEqual([]);
    expect(desk.look(doing(6, 'waiting'))).toHaveLength(1);
  });

  test('names the agent, its place and what it waits for, if known', () => {
    const desk = new NewsDesk();
    const waiting = doing(0, 'waiting');
    const [one] = waiting.processes;
    const session = { ...one!.session!, project: null, waitingFor: null };
    const [news] = desk.look({ ...waiting, processes: [{ ...one!, session }] as never });
    expect(news).toMatchObject({
      severity: 'warn',
      why: 'from its own session file',
      processes: [{ pid: 7, start: '1' }],
      files: [],
      action: null,
    });
    expect(news!.title).not.toContain(' in ');
    expect(desk.look({ ...at(2), processes: [{ ...one!, session: null }] as never })).toEqual([]);
  });
});
