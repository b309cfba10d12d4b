import { rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { allow, Holding, ownersInDoubt, whyHold } from '../../src/guard/hold.ts';
import { keyOf } from '../../src/model/identity.ts';
import type { JudgedProcess, Owner, Snapshot } from '../../src/model/snapshot.ts';
import { FakeSystem } from '../act/fake-system.ts';
import { HOUSE, invent, snapshotOf } from '../judge/plan/machine.ts';
import { Sandbox } from '../support/sandbox.ts';

const AGENT = { pid: 2000, start: 's2000' };
const owner: Owner = { ...AGENT, sessionId: null, how: 'ancestor', alive: true };
const agent = (recognised: boolean): JudgedProcess =>
  invent(2000, 800, { kind: recognised ? 'agent' : 'other', isSession: recognised, verdict: 'live' });

const servers = (count: number, verdict: 'live' | 'leak'): JudgedProcess[] =>
  Array.from({ length: count }, (_, n) =>
    invent(3000 + n, verdict === 'live' ? 2000 : 1, { verdict, owner }),
  );

const look = (...processes: readonly JudgedProcess[]): Snapshot => snapshotOf([...HOUSE, ...processes]);
const RUNS = new Set([keyOf(AGENT)]);
const NOBODY = new Set<string>();

/** Another agent, so that "none is recognised" is not what is tested. */
const other = invent(2500, 800, { kind: 'agent', isSession: true, verdict: 'live' });

describe('guard holds', () => {
  test('when ten processes turn from live to leaked while their agent runs', () => {
    const before = look(agent(true), other, ...servers(10, 'live'));
    const now = look(other, ...servers(10, 'leak'));
    expect(whyHold(before, now, RUNS)).toContain('10 processes turned from live to leaked');
    expect(ownersInDoubt(before, now)).toEqual([AGENT]);
  });

  test('when a single process does', () => {
    const before = look(agent(true), other, ...servers(1, 'live'));
    const now = look(other, ...servers(1, 'leak'));
    expect(whyHold(before, now, RUNS)).toContain(
      '1 process turned from live to leaked while its owner still runs',
    );
    expect(whyHold(before, look(agent(false), ...servers(1, 'leak')), RUNS)).not.toBeNull();
  });

  test('when the owner is only named by its pid, at either sample', () => {
    const named: Owner = { ...owner, how: 'environ', start: null, alive: false };
    const server = (verdict: 'live' | 'leak', by: Owner | null): Snapshot =>
      look(other, invent(3000, 1, { verdict, owner: by }));
    for (const [before, now] of [
      [server('live', named), server('leak', null)],
      [server('live', null), server('leak', named)],
    ] as const) {
      expect(ownersInDoubt(before, now)).toEqual([{ pid: 2000, start: null }]);
      expect(whyHold(before, now, new Set(['2000:']))).not.toBeNull();
      expect(whyHold(before, now, NOBODY)).toBeNull();
    }
    expect(ownersInDoubt(server('live', null), server('leak', null))).toEqual([]);
  });

  test('not when the agents are gone: that is a crash', () => {
    const before = look(agent(true), other, ...servers(10, 'live'));
    expect(whyHold(before, look(other, ...servers(10, 'leak')), NOBODY)).toBeNull();
  });

  test('not when fewer than ten are leaked with their agent, which is recognised and leaked itself', () => {
    const leaked = invent(2000, 1, { kind: 'agent', isSession: false, verdict: 'leak' });
    const turn = (count: number): string | null =>
      whyHold(
        look(agent(true), other, ...servers(count, 'live')),
        look(leaked, other, ...servers(count, 'leak')),
        RUNS,
      );
    expect(turn(9)).toBeNull();
    expect(turn(10)).toContain('10 processes');
  });

  test.each([
    ['is a recognised agent that is not leaked', { kind: 'agent', verdict: 'live' }],
    ['is leaked and no agent to us any more', { kind: 'other', verdict: 'leak' }],
  ] as const)('when a single process does, whose owner %s', (_, part) => {
    const before = look(agent(true), other, ...servers(1, 'live'));
    const now = look(invent(2000, 800, { isSession: false, ...part }), other, ...servers(1, 'leak'));
    expect(whyHold(before, now, RUNS)).not.toBeNull();
  });

  test('not for what turned into a suspect', () => {
    const before = look(agent(true), other, ...servers(3, 'live'));
    const now = look(other, ...servers(3, 'live').map(p => ({ ...p, verdict: 'suspect' as const })));
    expect(whyHold(before, now, RUNS)).toBeNull();
    expect(ownersInDoubt(before, now)).toEqual([]);
  });

  test('not for leaks that were leaks before', () => {
    const before = look(agent(true), other, ...servers(12, 'leak'));
    expect(whyHold(before, look(other, ...servers(12, 'leak')), RUNS)).toBeNull();
  });

  test('when agents fall to none while one of them still runs', () => {
    expect(whyHold(look(agent(true)), look(agent(false)), RUNS)).toContain('no agent is recognised any more');
    expect(whyHold(look(agent(true)), look(), NOBODY)).toBeNull();
    expect(whyHold(look(agent(true), other), look(agent(false), other), RUNS)).toBeNull();
    expect(whyHold(look(), look(), RUNS)).toBeNull();
  });
});

describe('a hold', () => {
  let sandbox: Sandbox;
  let system: FakeSystem;
  const before = look(agent(true), other, ...servers(1, 'live'));
  const now = look(other, ...servers(1, 'leak'));
  beforeEach(() => {
    sandbox = new Sandbox();
    system = new FakeSystem();
    system.add(2000, 1);
  });
  afterEach(() => sandbox.close());

  const held = async (directory: string | null): Promise<Holding> => {
    const holding = new Holding(system, directory);
    await holding.note(before);
    expect((await holding.note(now)).change).toBe('held');
    return holding;
  };

  test('holds even if it cannot be saved, and is saved later', async () => {
    const nowhere = await held(null);
    const path = sandbox.write('state', 'a file in the place of the directory');
    const blocked = await held(path);
    for (const holding of [nowhere, blocked])
      for (let look = 0; look < 3; look += 1) {
        expect(await holding.note(now)).toEqual({ change: null, warning: null });
        expect(holding.held?.why).toContain('its owner still runs');
      }
    rmSync(path);
    await blocked.note(now);
    expect(new Holding(system, path).held?.why).toContain('its owner still runs');
    expect(allow(path)).toBe(true);
    expect(await blocked.note(now)).toEqual({ change: 'allowed', warning: null });
    expect(blocked.held).toBeNull();
  });

  test('of an earlier guard is read from disk and only lifted by the user', async () => {
    const directory = sandbox.path('state');
    await held(directory);
    const again = new Holding(system, directory);
    expect((await again.note(before)).change).toBeNull();
    expect(again.held?.since).toBe(now.takenAt);
    expect(allow(directory)).toBe(true);
    expect((await again.note(before)).change).toBe('allowed');
    expect(allow(directory)).toBe(false);
    expect(new Holding(system, directory).held).toBeNull();
  });

  test('is one whatever stands in its file', () => {
    const directory = sandbox.path('state');
    for (const text of ['', 'null', '{', '{"since":"x","why":7}']) {
      sandbox.write('state/held.json', text, 0o600);
      expect(new Holding(system, directory).held).toMatchObject({ since: 0, why: expect.any(String) });
    }
  });

  test('comes of two samples in a row: not over one that failed', async () => {
    const holding = new Holding(system, null);
    await holding.note(before);
    holding.forget();
    expect((await holding.note(now)).change).toBeNull();
  });

  test('comes also of an owner that is named without its start time', async () => {
    const named = look(other, invent(3000, 1, { verdict: 'live', owner: { ...owner, start: null } }));
    const holding = new Holding(system, null);
    await holding.note(named);
    expect((await holding.note(now)).change).toBe('held');
  });

  test('is not lifted because the whole state directory is gone', async () => {
    const directory = sandbox.path('state');
    const holding = await held(directory);
    rmSync(directory, { recursive: true });
    expect((await holding.note(now)).change).toBeNull();
    expect(holding.held).not.toBeNull();
  });

  test('comes also when it cannot be read whether the agent still runs, not when it ended', async () => {
    system.unreadable.add(2000);
    await held(null);
    system.unreadable.delete(2000);
    for (const end of [
      () => system.change(2000, { start: 'another' }),
      () => system.change(2000, { start: 's2000', state: 'Z' }),
      () => system.remove(2000),
    ]) {
      end();
      const holding = new Holding(system, null);
      await holding.note(before);
      expect((await holding.note(now)).change).toBeNull();
    }
  });
});
