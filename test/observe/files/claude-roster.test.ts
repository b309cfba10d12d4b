import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseRoster, readClaudeRosters } from '../../../src/observe/files/claude-sessions.ts';
import { Sandbox } from '../../support/sandbox.ts';

const OLD = '9c33ca78-1244-4e57-8cc8-184e144261c7';
const roster = (launch: unknown) => ({
  proto: 3,
  supervisorPid: 7,
  workers: {
    a1b2c3d4: {
      pid: 41,
      procStart: '4100',
      replPid: 42,
      replProcStart: '4200',
      rvAuth: 'a-secret',
      dispatch: { short: 'a1b2c3d4', launch },
    },
  },
});

describe('the roster of background sessions', () => {
  let sandbox: Sandbox;
  beforeEach(() => {
    sandbox = new Sandbox();
  });
  afterEach(() => sandbox.close());
  const config = () => sandbox.path('home', '.claude');
  const put = (content: unknown) =>
    sandbox.write(
      'home/.claude/daemon/roster.json',
      typeof content === 'string' ? content : JSON.stringify(content),
    );

  it('tells which session a background session took over, and what to stop it by', () => {
    put(roster({ mode: 'resume', sessionId: OLD, fork: true, flagArgs: [] }));
    expect(readClaudeRosters([config(), config()])).toEqual({
      workers: [
        {
          jobId: 'a1b2c3d4',
          processes: [
            { pid: 42, start: '4200' },
            { pid: 41, start: '4100' },
          ],
          forkedFrom: OLD,
        },
      ],
      strange: [],
    });
  });

  it('names the session also by the path of its transcript, as Claude 2.1.325 does', () => {
    const path = `/home/me/.claude/projects/-home-me-project/${OLD}.jsonl`;
    const launch = { mode: 'resume', sessionId: path, fork: true };
    expect(parseRoster(JSON.stringify(roster(launch)))?.[0]?.forkedFrom).toBe(OLD);
  });

  it('a plain resume, a prompt or a command takes over nothing', () => {
    for (const launch of [
      { mode: 'resume', sessionId: OLD, fork: false },
      { mode: 'prompt', args: ['x'] },
      { mode: 'exec', cmd: 'x' },
      null,
    ])
      expect(parseRoster(JSON.stringify(roster(launch)))?.[0]?.forkedFrom).toBeNull();
  });

  it('one of another form is strange; none at all is not', () => {
    expect(readClaudeRosters([config()])).toEqual({ workers: [], strange: [] });
    for (const text of ['', '[]', '{"workers": []}', '{"proto": 9}', '{"workers": {']) {
      const path = put(text);
      expect(readClaudeRosters([config()])).toEqual({ workers: [], strange: [{ path, pid: null }] });
    }
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (workers, entry) => {
        parseRoster(JSON.stringify({ workers }));
        parseRoster(JSON.stringify({ workers: { a: entry } }));
      }),
    );
  });
});
