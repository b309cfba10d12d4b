import { existsSync, utimesSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startAgent } from '../support/agent.ts';
import { needsRootsDirectories } from '../support/lacking.ts';
import { leaveBehind } from '../support/leftovers.ts';
import { childrenOf, isRunning, type RawProcess } from '../support/proc.ts';
import { KEY, Pty } from '../support/pty.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

/** How many keys each question takes; what only moves the cursor is not counted. */
const counting = (pty: Pty) => {
  let keys = 0;
  return {
    get keys(): number {
      return keys;
    },
    press: (key: string): void => {
      keys += 1;
      pty.press(key);
    },
    /** `y`, given again when a test is quicker than anybody who reads; counted once. */
    confirm: async (): Promise<void> => {
      keys += 1;
      await pty.confirm();
    },
  };
};
const server = (name: string): string => `${sandbox.sleeper(name)} 600`;
const alive = (p: RawProcess): boolean => isRunning(p.pid, p.start);

it('what leaked and who waits: no key; the biggest hog: one; clean all: two; mend a finding: two and moving', async () => {
  needsRootsDirectories();
  const hog = `${process.execPath} -e "const held = Buffer.alloc(3e8, 1); setInterval(() => held, 1e6)"`;
  const agent = await startAgent(sandbox, { children: [hog] });
  sandbox.write(
    `home/.claude/sessions/${agent.pid}.json`,
    JSON.stringify({
      pid: agent.pid,
      sessionId: agent.session,
      procStart: agent.start,
      cwd: sandbox.path('work'),
      kind: 'interactive',
      status: 'waiting',
      waitingFor: 'permission prompt',
      statusUpdatedAt: Date.now() - 12 * 60_000,
    }),
  );
  const big = await until('the hog', () => childrenOf(agent.pid).find(p => p.comm === 'node'));
  const leaks = await leaveBehind(sandbox, server('mcp-server-files'), server('mcp-server-hub'));
  const lock = sandbox.write('work/specs/688_x/.diagnostic-lock', '');
  const then = new Date(Date.now() - 90_000);
  utimesSync(lock, then, then);

  const pty = new Pty(sandbox, { columns: 160, rows: 50 });
  const asked = counting(pty);
  await pty.shows(...leaks.map(leak => new RegExp(`LEAK +${leak.pid}`)), '2 leaked', 'lock is');
  await pty.shows('1 waiting', /work: waits for you: permission prompt 12m/);
  expect(asked.keys).toBe(0);

  asked.press('M');
  await pty.shows(new RegExp(`^│?▌ +${big.pid} `, 'm'));
  expect(asked.keys).toBe(1);

  const cleaning = counting(pty);
  cleaning.press('c');
  await pty.shows('Clean what is proven leaked: 2');
  await cleaning.confirm();
  await until('them to end', () => leaks.every(leak => !alive(leak)));
  expect(cleaning.keys).toBe(2);
  await pty.shows('2 ended');
  pty.press(KEY.escape);
  await pty.hides('2 ended, ');

  const mending = counting(pty);
  pty.press(KEY.tab);
  for (;;) {
    await pty.shows(/^│?▌ (warn|info|critical|over)/m);
    if (pty.lines().some(line => /^│?▌ .*lock is/.test(line))) break;
    const before = pty.text();
    pty.press('j');
    await pty.until('the cursor to move', () => pty.text() !== before);
  }
  mending.press('f');
  await pty.shows('Remove stale files: 1 file', lock);
  expect(existsSync(lock)).toBe(true);
  await mending.confirm();
  await until('the lock to go', () => !existsSync(lock));
  expect(mending.keys).toBe(2);
  await pty.shows('1 file removed');
  expect(alive(agent)).toBe(true);
  expect(alive(big)).toBe(true);
  pty.press(KEY.escape);
  pty.press('q');
  expect(await pty.exit()).toBe(0);
});
