import { expect, test } from 'vitest';
import { decodeLines, LineWriter } from '../../../src/remember/recorder/lines.ts';
import { snapshotOf } from '../../../src/remember/recorder/stored-snapshot.ts';
import { AGENT, withHungCall } from '../../support/hung-call.ts';

test('pending calls are recorded and read back as they were, with how long they had taken', () => {
  const snapshot = withHungCall();
  const [frame] = decodeLines(new LineWriter().next(snapshot)).frames;
  const callsIn = ({ processes }: Pick<typeof snapshot, 'processes'>) =>
    processes.find(p => p.facts.pid === AGENT)?.session?.calls;
  expect(callsIn(snapshot)).toMatchObject([{ hung: true, seconds: 780, late: { severity: 'critical' } }]);
  expect(callsIn(snapshotOf(frame!)!)).toEqual(callsIn(snapshot));
});

test('a call that goes on changes nothing in the recording', () => {
  const writer = new LineWriter();
  writer.next(withHungCall());
  const later = withHungCall();
  const line = JSON.parse(writer.next({ ...later, takenAt: later.takenAt + 10_000 })) as { d: object | null };
  expect(JSON.stringify(line.d)).not.toContain('calls');
});
