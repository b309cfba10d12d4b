import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ownerOf } from '../../src/act/record/file-lock.ts';
import { forgetSession, newSession, readSession, updateSession } from '../../src/hooks/session-state.ts';
import { Sandbox } from '../support/sandbox.ts';

let sandbox: Sandbox;
let directory: string;
beforeEach(() => {
  sandbox = new Sandbox();
  directory = sandbox.path('state');
});
afterEach(() => sandbox.close());

const sessions = (): string => join(directory, 'sessions');
const lock = (): string => join(sessions(), 'one.json.lock');
const fresh = () => newSession('one', '/work', null, 0);

/** A hook's turn; null: the file could not be had. */
const turn = (who = '') =>
  updateSession(
    directory,
    'one',
    fresh,
    before => ({
      after: { ...before, turns: { ...before.turns, [who]: (before.turns[who] ?? 0) + 1 } },
      result: true,
    }),
    { owed: { what: 'turn', who }, waitMs: 20 },
  );

describe('a hook that cannot have the session’s file in time', () => {
  beforeEach(() => {
    turn();
    // Somebody who runs has it: us.
    writeFileSync(lock(), JSON.stringify(ownerOf()));
  });

  it('leaves its count, and the next one that has the file counts it, once', () => {
    expect([turn(), turn(), turn('subagent')]).toEqual([null, null, null]);
    expect(readSession(directory, 'one')?.turns).toEqual({ '': 1 });
    updateSession(directory, 'one', fresh, () => ({ after: fresh(), result: true }), {
      owed: { what: 'call' },
      waitMs: 20,
    });
    release();
    expect(turn()).toBe(true);
    expect(readSession(directory, 'one')).toMatchObject({
      turns: { '': 4, subagent: 1 },
      diagnosticCalls: 1,
    });
    expect(turn()).toBe(true);
    expect(readSession(directory, 'one')?.turns).toEqual({ '': 5, subagent: 1 });
    expect(readdirSync(join(sessions(), 'one.json.owed'))).toEqual([]);
  });

  it('is not kept from its count by rubbish among what is owed', () => {
    turn();
    writeFileSync(join(sessions(), 'one.json.owed/rubbish.json'), '{"what":"turn","who":7}');
    writeFileSync(join(sessions(), 'one.json.owed/torn.json'), '{"wh');
    release();
    turn();
    expect(readSession(directory, 'one')?.turns).toEqual({ '': 3 });
  });

  it('leaves nothing behind when the session ends', () => {
    turn();
    release();
    forgetSession(directory, 'one');
    expect(readdirSync(sessions())).toEqual([]);
    expect(existsSync(lock())).toBe(false);
  });

  const release = (): void => rmSync(lock());
});
