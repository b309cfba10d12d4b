import { describe, expect, it } from 'vitest';
import { agent, agentFiles, file, member, pane, registry, server } from '../heartbeats/scene.ts';
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

  it('takes nothing while a tmux server does not answer', () => {
    const refused = plan({ readings: agentFiles('a', 600, true), tmux: [server([], false)] });
    expect([refused.files, refused.refused.length]).toEqual([[], 1]);
  });

  it('takes the files of an agent that vanished hours ago without a word', () => {
    expect(plan({ readings: agentFiles('a', 7 * 3600, false) }).files).toHaveLength(5);
    expect(plan({ readings: agentFiles('a', 5 * 3600, false) }).files).toEqual([]);
  });
});
