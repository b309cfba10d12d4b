import { expect, test } from 'vitest';
import { beatAlarm, beatText, type Heartbeat } from '../../src/model/heartbeat.ts';

const beat = (format: string): Heartbeat =>
  ({
    format,
    state: 'warn',
    ageSeconds: 125,
    task: '688',
    phase: null,
    operation: null,
    proof: null,
  }) as Heartbeat;

test.each([
  ['agent-progress', 'silent 2m', 'silent for 2m: task 688'],
  ['diagnostic-lock', 'lock 2m old', 'lock 2m old: task 688'],
  ['loop-guard', 'loop guard 2m old', 'loop guard 2m old: task 688'],
  ['postflight-marker', 'marker 2m old', 'marker 2m old: task 688'],
])('of %s says %j: only what beats can be silent', (format, alarm, text) => {
  expect([beatAlarm(beat(format)), beatText(beat(format))]).toEqual([alarm, text]);
});
