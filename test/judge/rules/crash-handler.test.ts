import { describe, expect, it } from 'vitest';
import { browserOfHandler } from '../../../src/judge/rules/adopted.ts';
import { type Extra, type Row, remembered, session, world } from '../../support/world.ts';
import { grown, type Member, type Part } from './grown.ts';

const LOGIN = 80_001;
const DEAD = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: '9c33ca78-1244-4e57-8cc8-184e144261c7' };
const BROWSER =
  '/usr/lib/chromium/chromium --headless --remote-debugging-port=0 --user-data-dir=/tmp/puppeteer_dev_x';
const HANDLER = '/usr/lib/chromium/chrome_crashpad_handler --monitor-self';

/** A handler that made itself a daemon a moment after its browser was started. */
const handler = (browserBorn: number): Row => [3100, 1, HANDLER, { env: DEAD, born: browserBorn + 0.1 }];

describe('the crash handler of a browser', () => {
  it('goes with a live browser, though its own environment names a session that has ended', () => {
    const rows: Row[] = [
      [1000, LOGIN, `claude --session-id ${'0'.repeat(8)}-1111-4222-8333-444455556666`],
      [2000, 1000, 'node /opt/mcp-server-puppeteer'],
      [3000, 2000, BROWSER, { born: 3000 }],
      handler(3000),
    ];
    const { at } = world(rows);
    expect(at(3100).verdict).toBe('live');
    expect(at(3100).why.join()).toContain('goes with chromium (3000)');
  });

  it('goes with a leaked one, and is unknown beside somebody’s own', () => {
    const leaked = world([[3000, 1, BROWSER, { born: 3000, env: DEAD }], handler(3000)]);
    expect([3000, 3100].map(leaked.verdict)).toEqual(['leak', 'leak']);
    const own = world([[3000, 1, 'chromium --remote-debugging-port=9222', { born: 3000 }], handler(3000)]);
    expect([3000, 3100].map(own.verdict)).toEqual(['unknown', 'unknown']);
  });

  it('belongs to the browser that started last before it, and to none that started much earlier or later', () => {
    const two = world([
      [1000, LOGIN, 'claude'],
      [3000, 1000, BROWSER, { born: 2999 }],
      [3050, 1, BROWSER, { born: 3000, env: { CLAUDECODE: '1', CLAUDE_PID: '77' } }],
      handler(3000),
    ]);
    expect(two.at(3100).why.join()).toContain('(3050)');
    for (const born of [2990, 3060]) {
      const { at } = world([[3000, 1, BROWSER, { born, env: DEAD }], handler(3000)]);
      expect(at(3100).verdict).toBe('suspect');
    }
  });

  it('is nobody’s business without its browser while nothing, or any of several agents, may be its owner', () => {
    const alone = (env: Extra['env']): Row => [3100, 1, HANDLER, { env: env ?? null }];
    expect(world([alone({})]).at(3100)).toMatchObject({
      verdict: 'unknown',
      why: ['adopted by PID 1; it is not known who started it'],
    });
    const around = { sessions: [session(1000, 'one')] };
    const any = world([[1000, LOGIN, 'claude'], alone({ CLAUDECODE: '1' })], around);
    expect(any.verdict(3100)).toBe('unknown');
  });

  it('is live, not protected, beside a browser that nobody may end', () => {
    const { verdict } = world([[3000, 1, BROWSER, { born: 3000 }], handler(3000)], {
      config: { protect: ['--user-data-dir=/tmp/puppeteer*'] },
    });
    expect([3000, 3100].map(verdict)).toEqual(['protected', 'live']);
  });

  it('is no leak by what was seen of it alone: it ends by itself with its browser', () => {
    const before = world([
      [1000, LOGIN, 'claude'],
      [3100, 1000, HANDLER],
    ]);
    expect(world([[3100, 1, HANDLER]], { lineage: remembered(before) }).verdict(3100)).toBe('suspect');
  });
});

describe('the browser of a crash handler', () => {
  const handlerBorn = (born: number | null): Member => [100, 1, 'handler', 'other', { born }];
  const browser = (pid: number, born: number | null, part: Part = {}, ppid = 1): Member => [
    pid,
    ppid,
    'chrome',
    'browser',
    { born, ...part },
  ];

  it.each<[string, readonly Member[], number | null]>([
    ['started five seconds before', [handlerBorn(1005), browser(200, 1000)], 200],
    ['started earlier', [handlerBorn(1005.1), browser(200, 1000)], null],
    ['started at the same moment', [handlerBorn(1000), browser(200, 1000)], 200],
    ['started later', [handlerBorn(1000), browser(200, 1000.1)], null],
    ['of unknown age', [handlerBorn(1), browser(200, null)], null],
    ['while its own age is unknown', [handlerBorn(null), browser(200, -1)], null],
    ['that has ended', [handlerBorn(1000), browser(200, 1000, { state: 'Z' })], null],
    ['that is none', [handlerBorn(1000), [200, 1, 'chrome', 'other', { born: 1000 }]], null],
    ['that has no parent', [handlerBorn(1000), browser(200, 1000, {}, 77)], 200],
    [
      'that is no renderer of another',
      [handlerBorn(1000), browser(200, 998), browser(201, 999, {}, 200)],
      200,
    ],
    ['the last of two', [handlerBorn(1000), browser(200, 998), browser(201, 999)], 201],
    ['the last of two, listed first', [handlerBorn(1000), browser(200, 999), browser(201, 998)], 200],
    ['of two of one moment the first', [handlerBorn(1000), browser(200, 999), browser(201, 999)], 200],
  ])('%s', (_, members, pid) => {
    const { tree, at } = grown(members);
    expect(browserOfHandler(at(100), tree)?.facts.pid ?? null).toBe(pid);
  });
});
