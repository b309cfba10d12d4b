import { describe, expect, test } from 'vitest';
import { signalIdentity } from '../../src/act/send-signal.ts';
import type { Identity } from '../../src/model/identity.ts';
import type { System } from '../../src/observe/system.ts';
import { until } from '../support/until.ts';

/** One backend, with a process on it that a test may lose. */
export interface Stage {
  readonly system: System;
  /** As the backend itself identifies it. */
  readonly victim: Identity;
  /** Asked of the machine, never of the backend. */
  readonly runs: () => boolean;
  /** Ends it behind the backend's back. */
  readonly end: () => Promise<void>;
  /** A system on which the victim's presence cannot be read. */
  readonly blind: System;
}

/** What every backend promises whoever acts through it. Each fills the same contract, each is asked the same. */
export const holdsTheContract = (name: string, setUp: () => Promise<Stage>): void => {
  const stated = async (system: System, pid: number) => await system.presence(pid);

  describe(`the contract: ${name}`, () => {
    test('presence and look name the same identity', async () => {
      const { system, victim } = await setUp();
      const listed = (await system.sample()).processes.find(p => p.pid === victim.pid);
      expect(listed?.start).toBe(victim.start);
      expect(await stated(system, victim.pid)).toMatchObject({ status: 'present', identity: victim });
    });

    test('no pid, no process', async () => {
      const { system } = await setUp();
      for (const pid of [0, -1, 2.5, Number.NaN, 4_194_305])
        expect(await stated(system, pid)).toEqual({ status: 'gone' });
    });

    test('pids up to 2, groups and numbers that are no pid are never signalled, though they be identified', async () => {
      const { system } = await setUp();
      // CONT: should this ever go out, it does nothing.
      for (const pid of [1, 2, 0, -1, 2.5, Number.NaN]) {
        const now = await stated(system, pid);
        const start = now.status === 'present' ? now.identity.start : '1';
        const { status } = await signalIdentity(system, { pid, start }, 'SIGCONT');
        expect([pid, status]).toEqual([pid, system.readOnly === null ? 'denied' : 'unreadable']);
      }
    });

    test('another start time is another process: nothing is sent', async () => {
      const { system, victim, runs } = await setUp();
      const result = await signalIdentity(system, { ...victim, start: `${victim.start}1` }, 'SIGKILL');
      expect(result.status).toBe(system.readOnly === null ? 'changed' : 'unreadable');
      expect(runs()).toBe(true);
    });

    test('what cannot be read is not signalled', async () => {
      const { blind, victim, runs } = await setUp();
      expect(await stated(blind, victim.pid)).toMatchObject({ status: 'unreadable' });
      expect(await signalIdentity(blind, victim, 'SIGKILL')).toMatchObject({ status: 'unreadable' });
      expect(runs()).toBe(true);
    });

    test('the same process gets the signal, unless the system is read-only; then it is gone', async () => {
      const { system, victim, runs, end } = await setUp();
      const result = await signalIdentity(system, victim, 'SIGKILL');
      if (system.readOnly !== null) {
        expect(result).toEqual({ status: 'unreadable', why: system.readOnly });
        expect(runs()).toBe(true);
        return;
      }
      expect(result).toEqual({ status: 'sent' });
      await until('its end', () => !runs());
      await end();
      expect(await signalIdentity(system, victim, 'SIGKILL')).toEqual({ status: 'gone' });
    });
  });
};
