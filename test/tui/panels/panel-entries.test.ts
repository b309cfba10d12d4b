import { describe, expect, test } from 'vitest';
import type { LogLine } from '../../../src/engine/live-state.ts';
import type { Finding } from '../../../src/model/finding.ts';
import type { Heartbeat } from '../../../src/model/heartbeat.ts';
import type { Snapshot } from '../../../src/model/snapshot.ts';
import { keptCursor, type Shown } from '../../../src/tui/panels/panel-entries.ts';

const beat = (path: string, ageSeconds = 1, format = 'agent-progress'): Heartbeat =>
  ({ path, ageSeconds, format }) as Heartbeat;
const line = (text: string): LogLine => ({ at: 1, text, tone: 'plain' });
const finding = (file: string, title: string): Finding =>
  ({ id: 'lock-stale', processes: [], files: [file], title }) as unknown as Finding;

const shown = ({
  findings = [],
  heartbeats = [],
  log = [],
}: {
  findings?: readonly Finding[];
  heartbeats?: readonly Heartbeat[];
  log?: readonly LogLine[];
}): Shown => ({ snapshot: { findings, heartbeats } as unknown as Snapshot, state: { log } });

const at = (panelCursor: number, panelLost: Finding | Heartbeat | null = null) => ({
  panelCursor,
  panelLost,
});

describe('the cursor of a panel', () => {
  test('stays on its heartbeat, by path and format, when others come above it', () => {
    const before = shown({ heartbeats: [beat('/a'), beat('/b')] });
    const now = shown({ heartbeats: [beat('/new'), beat('/b', 9, 'other'), beat('/a', 3), beat('/b', 3)] });
    expect(keptCursor(at(1), 'heartbeats', before, now)).toEqual(at(3));
  });

  test('stays where its heartbeat was when that is gone, and is back on it when it comes back', () => {
    const gone = beat('/b');
    const before = shown({ heartbeats: [beat('/a'), gone] });
    const without = shown({ heartbeats: [beat('/a')] });
    const lost = keptCursor(at(1), 'heartbeats', before, without);
    expect(lost).toEqual(at(1, gone));
    const again = shown({ heartbeats: [beat('/b', 5), beat('/a')] });
    expect(keptCursor(lost, 'heartbeats', without, again)).toEqual(at(0));
  });

  test('stays where its heartbeat was, but not beyond the end of a shorter list', () => {
    const all = [beat('/a'), beat('/b'), beat('/c'), beat('/d')];
    const before = shown({ heartbeats: all });
    expect(
      keptCursor(at(1), 'heartbeats', before, shown({ heartbeats: [all[0]!, all[2]!, all[3]!] })),
    ).toEqual(at(1, all[1]));
    expect(keptCursor(at(3), 'heartbeats', before, shown({ heartbeats: [all[0]!] }))).toEqual(at(1, all[3]));
    expect(keptCursor(at(3, all[0]), 'heartbeats', before, before)).toEqual(at(3, all[0]));
  });

  test('stays on its line of the log while newer ones come, though another says the same', () => {
    const old = [line('one'), line('two')];
    const before = shown({ log: old });
    const now = shown({ log: [...old, line('two'), line('three')] });
    expect(keptCursor(at(0), 'log', before, now)).toEqual(at(2));
    expect(keptCursor(at(1), 'log', before, now)).toEqual(at(3));
  });

  test('is at the end of the log when its line fell off', () => {
    const before = shown({ log: [line('one'), line('two')] });
    const now = shown({ log: [line('three')] });
    expect(keptCursor(at(1), 'log', before, now)).toEqual(at(0));
    expect(keptCursor(at(1), 'log', before, shown({}))).toEqual(at(0));
  });

  test('stays on its finding, whatever its words are by now', () => {
    const before = shown({ findings: [finding('/lock', 'a lock is 2m old')] });
    const now = shown({ findings: [finding('/other', 'new'), finding('/lock', 'a lock is 3m old')] });
    expect(keptCursor(at(0), 'findings', before, now)).toEqual(at(1));
  });

  test('on a note below the findings it stays a place', () => {
    const before = shown({ findings: [finding('/lock', 'x')] });
    expect(keptCursor(at(1), 'findings', before, shown({}))).toEqual(at(1));
  });
});
