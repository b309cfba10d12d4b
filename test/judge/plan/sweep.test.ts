import { describe, expect, it } from 'vitest';
import { asPlan, type FileSeen, type SweepFacts } from '../../../src/judge/plan/sweep-plan.ts';
import { agent, agentFiles, ago, file, member, pane, registry, server, TASK } from '../heartbeats/scene.ts';
import { invent } from './machine.ts';
import { planFor as plan } from './sweep-scene.ts';

const DIR = '/p/specs/688_x';

describe('planSweep', () => {
  const stale = [
    file(`${DIR}/.diagnostic-lock`, 'diagnostic-lock', 60),
    file(`${DIR}/.postflight-pending`, 'postflight-marker', 400),
    file(`${DIR}/.postflight-loop-guard`, 'loop-guard', 400, { counters: { count: 3 } }),
  ];

  it('removes stale locks, markers and guards only where no agent lives', () => {
    expect(plan({ readings: stale }).files.map(f => f.act)).toEqual(['remove', 'remove', 'remove']);
    expect(plan({ readings: stale, processes: [agent(1200)] }).files).toEqual([]);
  });

  it('a lock that is dated in the future goes, unless an agent is there', () => {
    const readings = [file(`${DIR}/.diagnostic-lock`, 'diagnostic-lock', -3600)];
    expect(plan({ readings }).files).toMatchObject([
      { act: 'remove', why: expect.stringContaining('future') },
    ]);
    expect(plan({ readings, processes: [agent(1101, { facts: { born: 1 } })] }).files).toEqual([]);
  });

  it('leaves what is still young', () => {
    const young = [
      file(`${DIR}/.diagnostic-lock`, 'diagnostic-lock', 20),
      file(`${DIR}/.postflight-pending`, 'postflight-marker', 100),
      file(`${DIR}/.postflight-loop-guard`, 'loop-guard', 100, { counters: { count: 3 } }),
      file(`${DIR}/.agent-progress.json`, 'agent-progress', 3600),
    ];
    expect(plan({ readings: young }).files).toEqual([]);
  });

  it('never plans for a registry, a state file, a transcript or a file of the user', () => {
    const readings = [
      registry(member('a', 'completed')),
      file('/p/specs/state.json', 'project-state', 1e6),
      file('/h/t.jsonl', 'transcript', 1e6),
      file('/p/beat.json', 'user', 1e6, { source: 'mine', terminal: true }),
      file(`${DIR}/.return-meta.json`, 'return-meta', 1e6, { terminal: true }),
    ];
    expect(plan({ readings }).files).toEqual([]);
  });

  it('takes nothing of an agent whose session holds something protected', () => {
    const argv = ['sh', '-c', 'claude | tee log'];
    const shell = invent(1100, 40, { kind: 'shell', verdict: 'live', facts: { born: 50, argv } });
    const tee = invent(1101, 1100, { kind: 'wrapper', verdict: 'unknown', seen: { anchor: 'editor' } });
    const tmux = [server([pane('agent_a', { pid: 1100 })])];
    const readings = agentFiles('a', 600, true);
    expect(plan({ readings, tmux, processes: [shell, tee] })).toMatchObject({
      files: [],
      sessions: [],
      refused: [{ what: 'agent a', why: expect.stringContaining('editor') }],
    });
    const alone = plan({ readings, tmux, processes: [shell] });
    expect(alone.ending.steps.map(step => step.pid)).toEqual([1100]);
    expect(alone.files).toHaveLength(5);
  });

  it('says what becomes of each file, and how many bytes are kept and given back', () => {
    const swept = plan({ readings: agentFiles('a', 600, true) });
    expect(swept.files.map(({ act, to, agent: of }) => [act, to, of])).toEqual([
      ['archive', `${TASK}/archive`, 'a'],
      ['archive', `${TASK}/archive`, 'a'],
      ['archive', `${TASK}/archive`, 'a'],
      ['delete', null, 'a'],
      ['archive', `${TASK}/archive`, 'a'],
    ]);
    expect([swept.archivedBytes, swept.freedBytes]).toEqual([400, 100]);
    expect(asPlan(swept)).toMatchObject({ files: swept.files.map(({ path }) => path), bytes: 0 });
  });

  it('leaves a file that is not what was read, or that no archive can be made for', () => {
    const readings = agentFiles('a', 600, true);
    const path = `${TASK}/logs/a_stream.jsonl`;
    const { mtime, size } = readings[0]!;
    const seen = (part: Partial<FileSeen>) =>
      new Map([[path, { mtimeMs: mtime, size, file: path, directory: '', ...part }]]);
    const count = (known: Partial<SweepFacts>) => plan({ readings }, known).files.length;
    expect(count({ seen: seen({}) })).toBe(1);
    expect(count({ seen: seen({ mtimeMs: mtime + 1 }) })).toBe(0);
    expect(count({ seen: seen({ size: size + 1 }) })).toBe(0);
    expect(count({ seen: seen({}), directories: new Map() })).toBe(0);
  });

  it('leaves an agent of which a file grows, and names what may not be touched', () => {
    const readings = agentFiles('a', 600, true);
    const log = `${TASK}/findings/a_findings.jsonl`;
    expect(plan({ readings }, { growing: new Set([log]) })).toMatchObject({
      files: [],
      refused: [{ what: 'agent a', why: `${log} still grows` }],
    });
    const loose = file(`${DIR}/.postflight-pending`, 'postflight-marker', 400);
    expect(plan({ readings: [loose] }, { growing: new Set([loose.path]) }).files).toEqual([]);
    const unsafe = new Map([[log, 'a symlink']]);
    expect(plan({ readings }, { unsafe }).refused).toEqual([{ what: log, why: 'a symlink' }]);
    expect(plan({ readings: agentFiles('a', 60, false) }, { unsafe }).refused).toEqual([]);
  });

  it('names nothing of an agent that works, though one of another task has its name', () => {
    const other = '/p/.agent-workspace/TASK-20260127-110000-abcdef12';
    const working = agentFiles('a', 60, false).map(one => ({ ...one, path: one.path.replace(TASK, other) }));
    const unsafe = new Map([[`${other}/findings/a_findings.jsonl`, 'a symlink']]);
    const swept = plan({ readings: [...agentFiles('a', 600, true), ...working] }, { unsafe });
    expect(swept.files).toHaveLength(5);
    expect(swept.refused).toEqual([]);
  });

  it('names what may not be touched also of an agent whose session is still there', () => {
    const argv = ['sh', '-c', 'claude | tee log'];
    const shell = invent(1100, 40, { kind: 'shell', verdict: 'live', facts: { born: 50, argv } });
    const tmux = [server([pane('agent_a', { pid: 1100 })])];
    const unsafe = new Map([[`${TASK}/findings/a_findings.jsonl`, 'a symlink']]);
    const { refused, sessions } = plan(
      { readings: agentFiles('a', 600, true), tmux, processes: [shell] },
      { unsafe },
    );
    expect(refused).toEqual([...unsafe].map(([what, why]) => ({ what, why })));
    expect(sessions).toHaveLength(1);
  });

  it('waits for a result that may still come only where something of the agent is left', () => {
    const at = (age: number) => [registry(member('a', 'completed')), ...agentFiles('a', age, false)];
    expect(plan({ readings: at(60) }).files).toHaveLength(5);
    const inside = { socket: '/tmp/tmux-1000/default', session: 'agent_a', pane: '%1' };
    const left = (age: number, readings = at(age)) =>
      plan({
        readings,
        processes: [agent(1100, { tmux: inside, facts: { ppid: 40 } })],
        tmux: [server([pane('agent_a', { pid: 1100, activity: 0 })])],
      }).refused.map(({ why }) => why);
    expect(left(119)).toEqual([expect.stringMatching(/^its stream log changed .* and has no result yet$/)]);
    expect(left(120)).toEqual([expect.stringMatching(/^its stream log changed .* ago$/)]);
    const done = agentFiles('a', 60, true);
    for (const readings of [done, done.toReversed()])
      expect(left(60, readings)).toEqual([expect.stringMatching(/^its stream log changed .* ago$/)]);
    for (const { path } of agentFiles('a', 60, false)) {
      const unsafe = new Map([[path, 'a symlink']]);
      expect(plan({ readings: at(60) }, { unsafe }).refused).toContainEqual({ what: path, why: 'a symlink' });
    }
  });

  it('takes the session of an agent that left no file, on the word of its registry; a running one has a say', () => {
    const argv = ['sh', '-c', 'claude | tee log'];
    const shell = invent(1100, 40, { kind: 'shell', verdict: 'live', facts: { born: 50, argv } });
    const sessions = (status: string) =>
      plan({
        readings: [registry(member('a', status))],
        tmux: [server([pane('agent_a', { pid: 1100 })])],
        processes: [shell],
      }).sessions;
    expect(sessions('completed')).toHaveLength(1);
    expect(sessions('running')).toEqual([]);
  });

  it('expires an archive after the days that it was to be kept', () => {
    const archived = (days: number) => ({
      path: `${TASK}/archive/a_stream.jsonl`,
      root: '/p',
      archivedAt: ago(days * 86_400),
      seen: { mtimeMs: 1, size: 7, file: '1', directory: '2' },
    });
    const expired = (days: number) => plan({ readings: [] }, { archives: [archived(days)] });
    expect(expired(7)).toMatchObject({
      files: [{ act: 'expire', path: archived(7).path, to: null, bytes: 7, agent: null }],
      freedBytes: 7,
    });
    expect(expired(6.9).files).toEqual([]);
  });

  it('removes a marker from the very second on that it counts as dead, and says why', () => {
    const at = (format: 'postflight-marker' | 'loop-guard', age: number) =>
      plan({ readings: [file(`${DIR}/.x`, format, age, { counters: { count: 1 } })] }).files;
    expect(at('postflight-marker', 149)).toEqual([]);
    expect(at('postflight-marker', 150)).toMatchObject([
      { act: 'remove', agent: null, why: expect.stringContaining('has been pending for') },
    ]);
    expect(at('loop-guard', 150)[0]?.why).toMatch(/^no agent is running; counter unchanged for /);
  });

  it('leaves a young lock that cannot be read, and takes a young heartbeat of a task that has returned', () => {
    const lock = file(`${DIR}/.diagnostic-lock`, 'diagnostic-lock', 5, { unreadable: 'EACCES' });
    expect(plan({ readings: [lock] }).files).toEqual([]);
    const beat = file(`${DIR}/.agent-progress.json`, 'agent-progress', 20);
    const meta = file(`${DIR}/.return-meta.json`, 'return-meta', 10, {
      terminal: true,
      status: 'implemented',
    });
    expect(plan({ readings: [beat] }).files).toEqual([]);
    expect(plan({ readings: [beat, meta] }).files).toMatchObject([
      { act: 'archive', to: `${DIR}/archive`, why: 'its task returned: implemented' },
    ]);
    const unsafe = new Map([[beat.path, 'a symlink']]);
    const refused = [{ what: beat.path, why: 'a symlink' }];
    expect(plan({ readings: [beat, meta] }, { unsafe }).refused).toEqual(refused);
    expect(plan({ readings: [beat] }, { unsafe }).refused).toEqual([]);
  });

  it('takes the files of two agents of one name where neither has a session', () => {
    const elsewhere = TASK.replace('abcdef12', 'abcdef13');
    const other = file(`${elsewhere}/logs/a_stream.jsonl`, 'stream-log', 600, {
      agentId: 'a',
      terminal: true,
    });
    const directories = new Map([TASK, elsewhere].map(path => [path, path]));
    const { files, refused } = plan({ readings: [...agentFiles('a', 600, true), other] }, { directories });
    expect([files.length, refused]).toEqual([6, []]);
  });

  it('takes nothing while a tmux server does not answer', () => {
    const refused = plan({ readings: agentFiles('a', 600, true), tmux: [server([], false)] });
    expect([refused.files, refused.refused.length]).toEqual([[], 1]);
  });

  it('takes the files of an agent that vanished hours ago without a word', () => {
    const gone = plan({ readings: agentFiles('a', 7 * 3600, false) }).files;
    expect(gone.map(({ why }) => why)).toEqual(Array(5).fill('its agent is gone'));
    expect(plan({ readings: agentFiles('a', 5 * 3600, false) }).files).toEqual([]);
  });
});
