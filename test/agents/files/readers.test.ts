import { describe, expect, it } from 'vitest';
import { userSourceReader } from '../../../src/agents/files/configured-format.ts';
import { FORMATS } from '../../../src/agents/files/formats.ts';
import type { ReadingContent } from '../../../src/model/heartbeat.ts';
import { SAMPLES, type SampleFormat } from './samples.ts';

const read = (format: SampleFormat, text: string = SAMPLES[format].text, cut = false): ReadingContent => {
  const result = FORMATS[format].reader!.read({
    path: `/p/${SAMPLES[format].path}`,
    text,
    cut,
  });
  if (!result.ok) throw new Error(result.why);
  return result.content;
};
const failure = (format: SampleFormat, text: string): string => {
  try {
    read(format, text);
    return 'understood';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('.agent-progress.json', () => {
  it('gives session, task, phase, operation, proof, counters and its own time', () => {
    expect(read('agent-progress')).toMatchObject({
      sessionId: 'sess_1736700000_abc123',
      task: '688',
      phase: '2',
      operation: 'checking_diagnostics',
      proof: 'foo_bar',
      counters: { diagnostic_calls: 7, skipped_diagnostics: 1 },
      updatedAt: Date.UTC(2026, 0, 27, 6, 10),
      terminal: false,
    });
  });
  it('knows the task from its directory, and takes the word null for nothing', () => {
    expect(read('agent-progress', '{"session_id": "null", "proof": ""}')).toMatchObject({
      sessionId: null,
      task: '688',
      proof: null,
    });
  });
  it('says why it cannot be understood', () => {
    expect(failure('agent-progress', '')).toBe('empty');
    expect(failure('agent-progress', '{"session_id": "se')).toContain('not valid JSON');
    expect(failure('agent-progress', '[1]')).toBe('not a JSON object');
  });
});

describe('.postflight-pending', () => {
  it('gives what is pending since when', () => {
    expect(read('postflight-marker')).toMatchObject({
      task: '259',
      operation: 'implement',
      createdAt: Date.UTC(2026, 0, 18, 10),
    });
  });
  it('is understood when the heredoc that wrote it was never filled in', () => {
    const text = SAMPLES['postflight-marker'].text
      .replace('259', '$task_number')
      .replace('sess_1736700000_abc123', '$session_id');
    expect(read('postflight-marker', text)).toMatchObject({
      sessionId: null,
      task: '259',
      createdAt: Date.UTC(2026, 0, 18, 10),
    });
  });
});

describe('loop guards', () => {
  it('come as an integer or as one of two objects', () => {
    expect(read('loop-guard').counters).toEqual({ count: 2 });
    expect(
      read('loop-guard', '{"session_id":"s","continuation_count":1,"max_continuations":3}').counters,
    ).toEqual({
      count: 1,
      max: 3,
    });
    expect(
      read('loop-guard', '{"cycle_count": 4, "max_cycles": 5, "current_state": "planning"}'),
    ).toMatchObject({ counters: { count: 4, max: 5 }, status: 'planning' });
    expect(failure('loop-guard', 'three')).toContain('neither an integer');
  });
});

describe('project files', () => {
  it('say whether an agent returned', () => {
    expect(read('return-meta')).toMatchObject({ terminal: true, status: 'implemented', phase: '2/3' });
    expect(read('return-meta', '{"status": "in_progress"}').terminal).toBe(false);
  });
  it('say how far a phase is', () => {
    expect(read('phase-progress')).toMatchObject({
      task: '7',
      phase: '2',
      operation: 'second',
      counters: { done: 1, objectives: 2, handoffs: 1 },
    });
  });
  it('list the tasks of the project', () => {
    expect(read('project-state').members.map(m => [m.id, m.terminal])).toEqual([
      ['7', false],
      ['8', true],
    ]);
    expect(read('workflow')).toMatchObject({ task: '688', createdAt: Date.UTC(2026, 5, 30, 18, 24, 29) });
  });
});

describe('AGENT_REGISTRY.json', () => {
  it('lists its agents with local times', () => {
    const registry = read('registry');
    expect(registry.members).toEqual([
      expect.objectContaining({
        id: 'tester-225442-dfe9d7',
        terminal: true,
        tmuxSession: 'agent_tester-225442-dfe9d7',
        startedAt: new Date(2025, 9, 29, 22, 54, 42, 123).getTime(),
        updatedAt: new Date(2025, 9, 29, 23, 4, 42, 500).getTime(),
      }),
      expect.objectContaining({ id: 'b-1-2', terminal: false, pid: 4242 }),
    ]);
    expect(registry.cwd).toBe('/home/u/p');
  });
  it('gives the agents of its first part when it is too long', () => {
    const text = SAMPLES.registry.text;
    const cut = text.slice(0, text.indexOf('"b-1-2"'));
    expect(read('registry', cut, true).members.map(m => m.id)).toEqual(['tester-225442-dfe9d7']);
  });
});

describe('logs of an agent', () => {
  it('give its last progress, and ignore the reminders a watchdog types in', () => {
    expect(read('progress-log')).toMatchObject({
      agentId: 'tester-225442-dfe9d7',
      task: 'TASK-20251029-225000-abcdef12',
      operation: 'reading logs',
      counters: { progress: 40 },
      foreignWrite: false,
    });
    const reminder = `{"timestamp":"2025-10-29T23:59:00","action":"progress_reminder","overall_progress":50}\n`;
    expect(read('progress-log', SAMPLES['progress-log'].text + reminder)).toMatchObject({
      operation: 'reading logs',
      updatedAt: new Date(2025, 9, 29, 22, 55, 42, 100).getTime(),
      foreignWrite: true,
    });
  });
  it('say terminal when the last line does', () => {
    const last = '{"status":"completed","progress":100}\n';
    expect(read('progress-log', SAMPLES['progress-log'].text + last).terminal).toBe(true);
  });
  it('finish with a result line, and only when nothing follows it', () => {
    const text = SAMPLES['stream-log'].text;
    expect(read('stream-log')).toMatchObject({ terminal: true, status: 'success', sessionId: 'f00' });
    expect(read('stream-log', `${text}npm notice new version\n`).terminal).toBe(true);
    expect(read('stream-log', `${text}{"type":"system"}\n`).terminal).toBe(false);
    expect(read('stream-log', `${text}{"type":"sys`).terminal).toBe(false);
    expect(read('stream-log', `lf of a line"}\n${text}`, true).terminal).toBe(true);
    expect(read('stream-log', '').terminal).toBe(false);
  });
});

describe('a source of the user', () => {
  const source = {
    name: 'town',
    glob: 'deacon/heartbeat.json',
    time: '$.beat.at',
    timeFormat: 'epoch-s',
    status: 'states[1]',
    task: 'beat.task',
    pid: 'pid',
    terminal: ['done'],
  } as const;
  const file = (text: string) => ({ path: '/p/h.json', text, cut: false });

  it('is read by field paths', () => {
    const text = JSON.stringify({ beat: { at: 1_790_000_000, task: 'T1' }, states: ['a', 'done'], pid: 9 });
    expect(userSourceReader(source)(file(text))).toMatchObject({
      ok: true,
      content: { updatedAt: 1_790_000_000_000, task: 'T1', status: 'done', terminal: true, pid: 9 },
    });
  });
  it('needs no JSON when only its mtime counts', () => {
    expect(
      userSourceReader({ name: 'log', glob: '*.log', timeFormat: 'mtime' })(file('plain')),
    ).toMatchObject({
      ok: true,
    });
    expect(userSourceReader(source)(file('plain'))).toMatchObject({ ok: false });
  });
});
