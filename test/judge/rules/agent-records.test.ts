import { describe, expect, test } from 'vitest';
import { type AgentRecords, agentRecords } from '../../../src/judge/rules/agent-records.ts';
import type { Climb } from '../../../src/judge/rules/climb.ts';
import type { Node } from '../../../src/judge/rules/tree.ts';
import { NO_CONTENT, type Reading } from '../../../src/model/heartbeat.ts';
import type { Observation } from '../../../src/model/observation.ts';
import { session, tmux } from '../../support/world.ts';
import { grown, type Part } from './grown.ts';

const file = (format: Reading['format'], mtime: number, part: Partial<Reading> = {}): Reading => ({
  ...NO_CONTENT,
  path: `/w/${mtime}`,
  root: '/w',
  format,
  source: null,
  mtime,
  size: 1,
  unreadable: null,
  ...part,
});

const IN_PANE: Extract<Climb, { end: 'pane' }> = {
  end: 'pane',
  pane: { ...tmux(90, [100]).panes[0]!, session: 'agent_tester' },
  through: null,
};
const IN_NULL: Climb = { ...IN_PANE, pane: { ...IN_PANE.pane!, session: 'agent_null' } };
const NOWHERE: Climb = { end: 'unknown' };

interface Written extends Partial<Observation> {
  readonly climb?: Climb;
  readonly part?: Part;
}

/** Asks what is written about the agent 100. */
const ask = <T>(
  question: (records: AgentRecords) => (agent: Node) => T,
  { climb = NOWHERE, part = {}, ...around }: Written,
): T => {
  const { observation, at } = grown([[100, 1, 'claude', 'agent', part]], around);
  return question(agentRecords(observation, () => climb))(at(100));
};

const NAMED: Part = { seen: { sessionIds: ['x'] } };
const portable = { host: { ...grown([]).observation.host, backend: 'portable' as const } };

describe('the session file of an agent', () => {
  test.each<[string, Written, boolean]>([
    ['with its pid and its start', { sessions: [session(100, 'x')] }, true],
    ['with its pid and another start', { sessions: [session(100, 'x', { procStart: '7' })] }, false],
    [
      'with another start where starts are rounded',
      { ...portable, sessions: [session(100, 'x', { procStart: '7' })] },
      false,
    ],
    ['without a start', { sessions: [session(100, 'x', { procStart: null })] }, false],
    [
      'without a start where there is none to compare',
      { ...portable, sessions: [session(100, 'x', { procStart: null })] },
      true,
    ],
    [
      'with its pid and its start, before what an earlier process of the pid left in another directory',
      { sessions: [session(100, 'x'), session(100, 'y', { procStart: '7' })] },
      true,
    ],
    [
      'with the pid that it has for itself in a sandbox',
      { sessions: [{ ...session(100, 'x'), pid: 2 }], part: { details: { innerPid: 2 } } },
      true,
    ],
    [
      'with the pid that we know of it, which is not its own',
      { sessions: [session(100, 'x')], part: { details: { innerPid: 2 } } },
      false,
    ],
    ['of another pid', { sessions: [session(101, 'x')] }, false],
  ])('%s', (_, written, found) => expect(ask(r => r.sessionOf, written) !== null).toBe(found));
});

describe('the transcript of an agent', () => {
  const transcript = (written: Written): number | undefined => ask(r => r.transcriptOf, written)?.mtime;

  test.each<[string, Written, number | undefined]>([
    ['by the id in its words', { part: NAMED, readings: [file('transcript', 5, { sessionId: 'x' })] }, 5],
    [
      'by the id in its session file',
      { sessions: [session(100, 'x')], readings: [file('transcript', 5, { sessionId: 'x' })] },
      5,
    ],
    ['by another id', { part: NAMED, readings: [file('transcript', 5, { sessionId: 'y' })] }, undefined],
    ['by the process that writes to it', { readings: [file('transcript', 5, { pid: 100 })] }, 5],
    ['by another process', { readings: [file('transcript', 5, { pid: 101 })] }, undefined],
    [
      'its id says more than its pid',
      {
        part: NAMED,
        readings: [file('transcript', 5, { sessionId: 'x' }), file('transcript', 6, { pid: 100 })],
      },
      5,
    ],
    [
      'one that names another session is not its own by the pid',
      { readings: [file('transcript', 5, { sessionId: 'y', pid: 100 })] },
      undefined,
    ],
    ['one that names nobody', { readings: [file('transcript', 5)] }, undefined],
    [
      'another file with its id',
      { part: NAMED, readings: [file('stream-log', 5, { sessionId: 'x' })] },
      undefined,
    ],
    ['another file with its pid', { readings: [file('registry', 5, { pid: 100 })] }, undefined],
  ])('%s', (_, written, mtime) => expect(transcript(written)).toBe(mtime));
});

describe('the last sign of an agent', () => {
  const lastSign = (written: Written): number | null => ask(r => r.lastSignOf, written);
  const STREAM = file('stream-log', 7, { agentId: 'tester' });

  test.each<[string, Written, number | null]>([
    ['none where nothing is written', {}, null],
    ['of its session file', { sessions: [session(100, 'x', { statusUpdatedAt: 4 })] }, 4],
    ['of its transcript', { part: NAMED, readings: [file('transcript', 5, { sessionId: 'x' })] }, 5],
    ['of a time before 1970', { part: NAMED, readings: [file('transcript', -5, { sessionId: 'x' })] }, -5],
    ['of the stream of the tmux session that bears its name', { climb: IN_PANE, readings: [STREAM] }, 7],
    ['of the stream of another', { climb: IN_PANE, readings: [{ ...STREAM, agentId: 'other' }] }, null],
    ['of a stream of nobody', { climb: IN_PANE, readings: [{ ...STREAM, agentId: null }] }, null],
    [
      'of a stream of nobody in a session of that name',
      { climb: IN_NULL, readings: [file('stream-log', 7)] },
      null,
    ],
    ['of a stream while it is in no pane', { readings: [STREAM] }, null],
    [
      'of a stream that names its session',
      { part: NAMED, readings: [file('stream-log', 7, { sessionId: 'x' })] },
      7,
    ],
    ['of a stream that names no session while it has none', { readings: [file('stream-log', 7)] }, null],
    [
      'of another file with its name',
      { climb: IN_PANE, readings: [file('progress-log', 7, { agentId: 'tester' })] },
      null,
    ],
    [
      'of all of them the last',
      { part: NAMED, climb: IN_PANE, readings: [STREAM, file('transcript', 5, { sessionId: 'x' })] },
      7,
    ],
  ])('%s', (_, written, sign) => expect(lastSign(written)).toBe(sign));
});

describe('an agent that calls itself finished', () => {
  const finished = (written: Written): string | null => ask(r => r.finishedBecause, written);
  const END = file('stream-log', 7, { agentId: 'tester', terminal: true });

  test.each<[string, Written, string | null]>([
    ['by its session file', { sessions: [session(100, 'x', { status: 'done' })] }, 'says done'],
    ['not while it is busy', { sessions: [session(100, 'x')] }, null],
    ['by the end of its stream', { climb: IN_PANE, readings: [END] }, '/w/7 ends with a result'],
    ['not by that of another’s', { climb: IN_PANE, readings: [{ ...END, agentId: 'other' }] }, null],
    ['not by a stream that goes on', { climb: IN_PANE, readings: [{ ...END, terminal: false }] }, null],
    [
      'not by another file that is final',
      { climb: IN_PANE, readings: [{ ...END, format: 'return-meta' }] },
      null,
    ],
  ])('%s', (_, written, why) =>
    why === null ? expect(finished(written)).toBeNull() : expect(finished(written)).toContain(why),
  );
});
