import { expect, test } from 'vitest';
import { type AgentSession, sessionText } from '../../src/model/snapshot.ts';
import { cells } from '../../src/model/text.ts';

const WAITS: AgentSession = {
  id: null,
  project: 'sphere-packing',
  name: 'density bound',
  doing: 'waiting',
  waitingFor: 'permission prompt',
  seconds: 720,
};
const within = (room: number, session = WAITS): string =>
  sessionText(session, { cells: room, ellipsis: '…' });

test.each([
  [80, 'sphere-packing “density bound”: waits for you: permission prompt 12m'],
  [60, 'sphere-packing: waits for you: permission prompt 12m'],
  [45, 'sphere-packing “density bound”: waits 12m'],
  [26, 'sphere-packing: waits 12m'],
  [18, 'sphere…: waits 12m'],
  [13, 'waits 12m'],
])('in %d cells: as much as fits, and what it does above all', (room, told) => {
  expect(within(room)).toBe(told);
  expect(cells(told)).toBeLessThanOrEqual(room);
});

test('where nothing tells what it does, its name stands alone', () => {
  expect(within(8, { ...WAITS, doing: null })).toBe('sphere-packing “density bound”');
});

test('without an edge all of it', () => {
  expect(sessionText(WAITS)).toBe('sphere-packing “density bound”: waits for you: permission prompt 12m');
});
