import { appendFileSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runningSessions } from '../../src/judge/remembered.ts';
import type { RememberedSession, WayBack } from '../../src/model/asleep.ts';
import { leftRecord, noteSessions, readRemembered, tryRemember } from '../../src/remember/asleep.ts';
import { claude } from '../judge/plan/idle-session.ts';
import { machine } from '../judge/plan/machine.ts';
import { Sandbox } from '../support/sandbox.ts';

let sandbox: Sandbox;
let directory: string;
let file: string;
beforeEach(() => {
  sandbox = new Sandbox();
  directory = sandbox.path('state');
  file = sandbox.path('state/asleep.jsonl');
});
afterEach(() => sandbox.close());

const [WAY] = runningSessions(machine(claude())) as [WayBack];
const asleep = (part: Partial<RememberedSession> = {}): RememberedSession => ({
  ...WAY,
  state: 'asleep',
  at: Date.now(),
  ...part,
});
const ids = (): string[] => readRemembered(directory).map(({ id, state }) => `${state} ${id.slice(-2)}`);

it('what is written comes back, readable to nobody else; the last line of a session counts', () => {
  expect(
    tryRemember(directory, [asleep({ tmux: { socket: '/s', session: 'w', pane: '%3', server: 7 } })]),
  ).toBeNull();
  expect(readRemembered(directory)).toEqual([
    asleep({ at: expect.any(Number) as never, tmux: { socket: '/s', session: 'w', pane: '%3', server: 7 } }),
  ]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  tryRemember(directory, [{ ...asleep(), state: 'lost', why: 'it was killed' }]);
  expect(ids()).toEqual(['lost 66']);
  tryRemember(directory, [{ ...WAY, state: 'gone' }]);
  expect(ids()).toEqual([]);
});

it('a torn line costs itself alone', () => {
  tryRemember(directory, [asleep()]);
  appendFileSync(file, '{"agent":"claude","id":"5d1f');
  tryRemember(directory, [asleep({ id: `${WAY.id}-2`, resume: `claude --resume ${WAY.id}-2` })]);
  expect(ids()).toEqual(['asleep 66', 'asleep -2']);
});

it.each<[string, object]>([
  ['another id than its command', { id: 'something-else' }],
  ['an id that is a flag', { id: '--resume' }],
  ['a command of several lines', { resume: `claude --resume ${WAY.id}\nreboot` }],
  ['a relative directory', { cwd: 'x' }],
  ['no time', { at: null }],
  ['a state that we do not know', { state: 'dreaming' }],
])('a line with %s is not believed: it would be typed into a shell', (_, part) => {
  mkdirSync(directory, { mode: 0o700 });
  writeFileSync(file, `${JSON.stringify({ ...asleep(), ...part })}\n`, { mode: 0o600 });
  expect(ids()).toEqual([]);
});

it('a link in its place is neither read nor written', () => {
  mkdirSync(directory, { mode: 0o700 });
  writeFileSync(sandbox.path('other'), `${JSON.stringify(asleep())}\n`);
  symlinkSync(sandbox.path('other'), file);
  expect(ids()).toEqual([]);
  expect(tryRemember(directory, [asleep()])).toContain('could not be written');
  expect(readFileSync(sandbox.path('other'), 'utf8').split('\n').length).toBe(2);
});

it('grown long, it keeps one line of each session', () => {
  for (let round = 0; round < 60; round += 1)
    tryRemember(
      directory,
      Array.from({ length: 40 }, () => asleep()),
    );
  tryRemember(directory, [asleep({ id: `${WAY.id}-2`, resume: `claude --resume ${WAY.id}-2` })]);
  expect(statSync(file).size).toBeLessThan(512 * 1024);
  expect(ids()).toEqual(['asleep 66', 'asleep -2']);
});

it('the record that a killed claude leaves is known from that of another session', () => {
  const registry = sandbox.path('home/.claude');
  const record = (sessionId: string) =>
    sandbox.write('home/.claude/sessions/1000.json', JSON.stringify({ pid: 1000, sessionId }));
  expect(leftRecord({ ...WAY, registry })).toBe(false);
  record('another');
  expect(leftRecord({ ...WAY, registry })).toBe(false);
  record(WAY.id);
  expect(leftRecord({ ...WAY, registry })).toBe(true);
});

it('a session that was seen and then killed is lost, and said to be so once', () => {
  const registry = sandbox.path('home/.claude');
  const env = { HOME: sandbox.home };
  // No such process runs here, whatever the invented machine says.
  const gone = { pid: 4_000_000, start: '1' };
  noteSessions(directory, machine(claude({ facts: { ...gone, env } })));
  sandbox.write('home/.claude/sessions/4000000.json', JSON.stringify({ pid: gone.pid, sessionId: WAY.id }));
  const first = noteSessions(directory, machine());
  expect(first.lost.map(({ id, why }) => [id, why])).toEqual([[WAY.id, 'it was killed, or crashed']]);
  expect(first.sessions).toMatchObject([{ state: 'lost', registry }]);
  expect(noteSessions(directory, machine()).lost).toEqual([]);
});
