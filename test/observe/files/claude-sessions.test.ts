import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseClaudeSession, readClaudeSessions } from '../../../src/observe/files/claude-sessions.ts';
import { Sandbox } from '../../support/sandbox.ts';

const record = (pid: number): Record<string, unknown> => ({
  pid,
  sessionId: '0b1c2d3e-1111-4222-8333-444455556666',
  cwd: '/home/u/project',
  startedAt: 1_790_000_000_000,
  procStart: '123456789',
  version: '2.1.325',
  kind: 'interactive',
  messagingSocketPath: `/tmp/cc-socks/${pid}.sock`,
  entrypoint: 'cli',
  status: 'busy',
  statusUpdatedAt: 1_790_000_100_000,
});

describe('readClaudeSessions', () => {
  let sandbox: Sandbox;
  let configDir: string;
  beforeEach(() => {
    sandbox = new Sandbox();
    configDir = sandbox.path('home', '.claude');
  });
  afterEach(() => sandbox.close());
  const put = (name: string, content: string) => sandbox.write(`home/.claude/sessions/${name}`, content);

  it('reads the session of every running Claude', () => {
    const path = put('4242.json', JSON.stringify(record(4242)));
    expect(readClaudeSessions([configDir, configDir]).sessions).toEqual([
      {
        pid: 4242,
        procStart: '123456789',
        sessionId: '0b1c2d3e-1111-4222-8333-444455556666',
        cwd: '/home/u/project',
        kind: 'interactive',
        status: 'busy',
        statusUpdatedAt: 1_790_000_100_000,
        waitingFor: null,
        name: null,
        jobId: null,
        socket: '/tmp/cc-socks/4242.sock',
        spare: false,
        adoptedOutputs: [],
        path,
      },
    ]);
  });

  it('reads a start time in words, as macOS has it: UTC, to the second, whatever the zone here', () => {
    const start = (procStart: string): string | null | undefined =>
      parseClaudeSession(JSON.stringify({ ...record(1), procStart }), '')?.procStart;
    expect(start('Thu Sep 10 08:31:58 2026')).toBe(String(Date.UTC(2026, 8, 10, 8, 31, 58) / 1000));
    expect(start('Tue Sep  1 08:31:58 2026')).toBe(String(Date.UTC(2026, 8, 1, 8, 31, 58) / 1000));
    expect(start('no time')).toBe('no time');
  });

  it('skips what is half-written, of a dead generation, mislabelled, huge or not a file', () => {
    put('1.json', '');
    put('2.json', '{"pid": 2, "sess');
    put('3.json', 'null');
    put('4.json', JSON.stringify({ ...record(4), sessionId: null }));
    put('pid-5.json', JSON.stringify(record(5)));
    put('6.json', JSON.stringify(record(7)));
    put('8.json', JSON.stringify({ ...record(8), junk: 'x'.repeat(300_000) }));
    mkdirSync(`${configDir}/sessions/9.json`);
    execFileSync('mkfifo', [`${configDir}/sessions/10.json`]);
    put('11.json', JSON.stringify(record(11)));
    expect(readClaudeSessions([configDir]).sessions.map(s => s.pid)).toEqual([11]);
  });

  it('says which whole documents it does not understand, and reads no secret beside them', () => {
    const strange = [
      put('1.json', JSON.stringify({ ...record(1), sessionId: undefined, session: { id: 'x' } })),
      put('2.json', '[]'),
      put('3.json', JSON.stringify({ ...record(3), junk: 'x'.repeat(300_000) })),
    ];
    put('4.json', '{"pid": 4, "sess');
    put('5.a1b2c3.key', JSON.stringify(record(5)));
    put('6.json', JSON.stringify(record(6)));
    const found = readClaudeSessions([configDir]);
    expect(found.sessions.map(s => s.pid)).toEqual([6]);
    expect(found.strange).toEqual(strange.map((path, at) => ({ path, pid: at + 1 })));
  });

  it('is silent when there is no such directory, or none that may be read', () => {
    expect(readClaudeSessions([sandbox.path('absent')])).toEqual({ sessions: [], strange: [] });
    put('12.json', JSON.stringify(record(12)));
    chmodSync(`${configDir}/sessions`, 0o000);
    expect(() => readClaudeSessions([configDir])).not.toThrow();
    chmodSync(`${configDir}/sessions`, 0o700);
  });
});

describe('parseClaudeSession', () => {
  it('never throws, whatever the types and wherever the file ends', () => {
    const text = JSON.stringify(record(77));
    for (let end = 0; end < text.length; end++)
      expect(parseClaudeSession(text.slice(0, end), 'x')).toBeNull();
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), garbage => {
        parseClaudeSession(garbage, 'x');
      }),
    );
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...Object.keys(record(1))), fc.jsonValue()), fields => {
        const session = parseClaudeSession(JSON.stringify(fields), 'x');
        if (session !== null) expect(Number.isInteger(session.pid) && session.pid > 0).toBe(true);
      }),
    );
  });
});
