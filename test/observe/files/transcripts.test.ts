import { utimesSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ClaudeSession } from '../../../src/model/observation.ts';
import { slugOf, transcriptReadings } from '../../../src/observe/files/transcripts.ts';
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
