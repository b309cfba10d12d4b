import { utimesSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ClaudeSession } from '../../../src/model/observation.ts';
import { CallReader } from '../../../src/observe/files/call-reader.ts';
import { slugOf, transcriptReadings } from '../../../src/observe/files/transcripts.ts';
import { callLines } from '../../fixtures/call-lines.ts';
import { Sandbox } from '../../support/sandbox.ts';

describe('transcripts', () => {
  let sandbox: Sandbox;
  beforeEach(() => {
    sandbox = new Sandbox();
  });
  afterEach(() => sandbox.close());

  const session = (cwd: string): ClaudeSession => ({
    pid: 9,
    procStart: '1',
    sessionId: 'aaaa-bbbb',
    cwd,
    kind: null,
    status: 'busy',
    statusUpdatedAt: null,
    waitingFor: null,
    name: null,
    jobId: null,
    socket: null,
    spare: false,
    adoptedOutputs: [],
    path: sandbox.path('home', '.claude', 'sessions', '9.json'),
  });
  const write = (relative: string, seconds: number): void => {
    utimesSync(sandbox.write(`home/.claude/projects/${relative}`, '{}\n'), seconds, seconds);
  };

  it('tell when a session last wrote, itself or through a subagent', () => {
    write('-home-u-my-app-v2-0/aaaa-bbbb.jsonl', 1000);
    expect(transcriptReadings([session('/home/u/my_app.v2.0')])).toMatchObject([
      { format: 'transcript', sessionId: 'aaaa-bbbb', mtime: 1_000_000, pid: 9 },
    ]);
    write('-home-u-my-app-v2-0/aaaa-bbbb/subagents/agent-1.jsonl', 2000);
    expect(transcriptReadings([session('/home/u/my_app.v2.0')])[0]?.mtime).toBe(2_000_000);
  });

  it('are found for a directory whose name had to be cut', () => {
    const cwd = `/${'long/'.repeat(60)}`;
    write(`${slugOf(cwd).slug}-1a2b3c/aaaa-bbbb.jsonl`, 3000);
    expect(transcriptReadings([session(cwd)])[0]?.mtime).toBe(3_000_000);
  });

  it('may be absent', () => {
    expect(transcriptReadings([session('/nowhere'), session(`/${'x'.repeat(300)}`)])).toEqual([]);
  });
});

describe('calls in transcripts', () => {
  let sandbox: Sandbox;
  beforeEach(() => {
    sandbox = new Sandbox();
  });
  afterEach(() => sandbox.close());

  const { claude } = callLines;
  const BEGUN = Date.parse('2026-11-18T05:55:00Z');
  const at = (seconds: number): string => new Date(BEGUN + seconds * 1000).toISOString();
  const write = (relative: string, seconds: number, ...lines: readonly object[]): void => {
    const text = lines.map(line => `${JSON.stringify(line)}\n`).join('');
    const time = BEGUN / 1000 + seconds;
    utimesSync(sandbox.write(`home/.claude/projects/-work/${relative}`, text), time, time);
  };
  const logged = (status: string) => {
    const session = {
      sessionId: 'aaaa',
      cwd: '/work',
      pid: 9,
      status,
      path: sandbox.path('home', '.claude', 'sessions', '9.json'),
    } as ClaudeSession;
    return transcriptReadings([session], new CallReader())[0]?.calls;
  };
  const calls = (status = 'busy'): readonly string[] | undefined =>
    logged(status)?.pending.map(({ tool, subagent }) => `${tool}${subagent ? ' of a subagent' : ''}`);
  const behind = (status: string): readonly string[] | string | undefined => {
    const found = logged(status)?.behind;
    return typeof found === 'string' ? found : found?.map(({ tool }) => tool);
  };

  it('a session that waits for a subagent waits for what that calls', () => {
    write('aaaa.jsonl', 10, claude.call('t1', 'Agent', { at: at(10) }));
    write('aaaa/subagents/agent-1.jsonl', 20, claude.call('t2', 'Read', { at: at(20) }));
    expect(calls()).toEqual(['Agent', 'Read of a subagent']);
  });

  it('a subagent works on in the background when its call has returned, until it is stopped', () => {
    write('aaaa.jsonl', 10, claude.call('t1', 'Agent', { at: at(10) }), claude.result('t1'));
    write('aaaa/subagents/agent-1.jsonl', 20, claude.call('t2', 'Read', { at: at(20) }));
    expect(calls()).toEqual(['Read of a subagent']);
    write('aaaa/subagents/agent-1.jsonl', 30, claude.call('t2', 'Read'), claude.result('t2'));
    expect(calls()).toEqual([]);
  });

  it('at its prompt a session waits for no subagent, and never for one that has been silent for hours', () => {
    write('aaaa.jsonl', 10, claude.prompt());
    write('aaaa/subagents/agent-1.jsonl', 20, claude.call('t2', 'Read', { at: at(20) }));
    expect(calls('idle')).toEqual([]);
    expect(behind('idle')).toEqual(['Read']);
    expect(calls('busy')).toEqual(['Read of a subagent']);
    write('aaaa.jsonl', 7 * 3600, claude.prompt());
    expect(calls('busy')).toEqual([]);
  });

  it('what is beside the transcripts of subagents is not read', () => {
    write('aaaa.jsonl', 10, claude.call('t1', 'Agent', { at: at(10) }));
    write('aaaa/subagents/agent-1.meta.json', 20, claude.call('t2', 'Read', { at: at(20) }));
    expect(calls()).toEqual(['Agent']);
  });
});
