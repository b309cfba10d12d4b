import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { keyOf } from '../../../src/model/identity.ts';
import { quoteArgs } from '../../../src/model/text.ts';
import { readRecorded, recordedSystem } from '../../../src/observe/recorded/load.ts';

const NOW = Date.UTC(2026, 1, 9, 15);

const read = (value: unknown) => {
  const reading = readRecorded(typeof value === 'string' ? value : JSON.stringify(value), { now: NOW });
  if (!reading.ok) throw new Error(reading.message);
  return reading.table;
};

const own = {
  schema: 1,
  takenAt: '2026-02-09T12:00:00.000Z',
  host: {
    name: 'box',
    platform: 'linux',
    backend: 'procfs',
    container: true,
    bootId: 'b',
    memTotal: 5,
    memAvailable: 4,
    swapUsed: 3,
  },
  totals: {},
  warnings: [],
  processes: [
    {
      pid: 100,
      start: '5001',
      ppid: 50,
      pgid: 100,
      sid: 90,
      uid: 1000,
      tty: 'pts/3',
      state: 'S',
      startedAt: '2026-02-09T11:59:00.000Z',
      ageSeconds: 60,
      rss: 1000,
      swap: 200,
      cpu: 12.5,
      kind: 'agent',
      agent: 'claude',
      name: 'claude',
      command: quoteArgs(['claude', '--append', "it's a b", '']),
      cwd: '/home/me',
      depth: 0,
      owner: null,
      tmux: { socket: '/tmp/s', session: 'main', pane: '%3' },
      verdict: 'live',
      why: [],
      protection: null,
      zombies: 1,
    },
    {
      pid: 101,
      start: '5002',
      ppid: 1,
      pgid: 101,
      sid: 101,
      uid: 1000,
      tty: null,
      state: 'S',
      startedAt: null,
      ageSeconds: null,
      rss: null,
      swap: null,
      cpu: null,
      kind: 'mcp',
      agent: null,
      name: 'x-mcp',
      command: 'node x-mcp',
      cwd: null,
      depth: 0,
      owner: { pid: 77, start: null, sessionId: 'sid-1', how: 'environ', alive: false },
      tmux: null,
      verdict: 'leak',
      why: [],
      protection: null,
      zombies: 0,
    },
    {
      pid: 102,
      start: '5003',
      ppid: 100,
      state: 'Z',
      name: 'lake.orig',
      command: '[lake.orig] <defunct>',
      tmux: { socket: '/tmp/s', session: 'main', pane: '%3' },
    },
  ],
  findings: [],
  heartbeats: [],
};

describe('our own JSON', () => {
  test('comes back with everything a verdict is made from', () => {
    const { look } = read(own);
    expect(look).toMatchObject({
      takenAt: Date.UTC(2026, 1, 9, 12),
      self: null,
      complete: false,
      warnings: [],
    });
    expect(look.host).toEqual({ ...own.host, backend: 'recorded' });
    const [agent, server, zombie] = look.processes;
    expect(agent).toMatchObject({
      pid: 100,
      start: '5001',
      ppid: 50,
      pgid: 100,
      sid: 90,
      uid: 1000,
      tty: 'pts/3',
      state: 'S',
      rss: 1000,
      cpu: 12.5,
      comm: 'claude',
      argv: ['claude', '--append', "it's a b", ''],
      details: { cwd: '/home/me', swap: 200 },
      env: null,
    });
    expect(look.clock - agent!.born!).toBe(60);
    expect(server).toMatchObject({ rss: null, born: null, details: null, argv: ['node', 'x-mcp'] });
    expect(server!.env).toEqual({ CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'sid-1', CLAUDE_PID: '77' });
    expect(zombie).toMatchObject({ state: 'Z', comm: 'lake.orig', argv: null });
  });

  test('names the process of each tmux pane: the topmost one in it', () => {
    expect(read(own).tmux).toMatchObject([
      { socket: '/tmp/s', reachable: true, panes: [{ pid: 100, pane: '%3', session: 'main' }] },
    ]);
  });

  test('an empty machine is a table, and a log of snapshots shows the last one', () => {
    expect(read({ ...own, processes: [] }).look.processes).toEqual([]);
    const log = [{ ...own, processes: [] }, own].map(item => JSON.stringify(item)).join('\n');
    expect(read(log).look.processes).toHaveLength(3);
  });

  test('a row without a usable pid is left out and counted', () => {
    const { look } = read({ ...own, processes: [{ pid: 'x' }, null, { pid: -3 }, ...own.processes] });
    expect(look.processes).toHaveLength(3);
    expect(look.warnings).toEqual(['3 of the recorded processes had no usable PID and were left out.']);
  });

  test('a secret or an escape that somebody wrote into it does not come through', () => {
    const { look } = read({
      ...own,
      processes: [
        { pid: 5, start: '\n9', command: 'x --token hunter2 \u{1b}[2J', cwd: '/a\nb', tty: 'p\x07' },
      ],
    });
    expect(JSON.stringify(look)).not.toMatch(/hunter2|[^\\]\\n|\\u001b|\\u0007/);
    expect(look.processes[0]!.details!.cwd).toBe('/a\\nb');
  });
});

describe('JSON with the keys of ps', () => {
  const reported = [
    {
      source: 'a',
      pid: 99484,
      ppid: 99466,
      tty: null,
      stat: 'Sl',
      rss_kb: 71680,
      etime: '23044',
      command: 'sh -c mcp-server-filesystem',
      platform: 'linux',
    },
    {
      source: 'a',
      pid: null,
      ppid: null,
      tty: null,
      stat: null,
      rss_kb: null,
      etime: '4d 01h',
      command: 'claude',
      platform: 'linux (NixOS)',
    },
    {
      source: 'a',
      pid: null,
      ppid: null,
      tty: 'pts/7',
      stat: 'Z+',
      rss_kb: 0,
      etime: 'lstart Mon Feb  9 10:00:00 2026',
      command: '[lake.orig] <defunct>',
      platform: 'linux',
    },
  ];

  test.each([
    ['an array', JSON.stringify(reported)],
    ['JSON lines', reported.map(row => JSON.stringify(row)).join('\r\n')],
    ['an object with processes', JSON.stringify({ processes: reported })],
  ])('%s: null means unknown, rows without a pid get one of their own', (_, text) => {
    const { look } = read(text);
    expect(look.host.platform).toBe('linux');
    expect(look.processes).toMatchObject([
      { pid: 99484, ppid: 99466, state: 'S', rss: 71680 * 1024, argv: ['sh', '-c', 'mcp-server-filesystem'] },
      { pid: 4194305, ppid: null, tty: null, state: '?', rss: null, argv: ['claude'] },
      { pid: 4194306, tty: 'pts/7', state: 'Z', comm: 'lake.orig', argv: null },
    ]);
    expect(look.processes.slice(0, 2).map(p => look.clock - p.born!)).toEqual([23044, 4 * 86400 + 3600]);
  });

  test('an argv that is a list keeps its words; the name of ps-list is understood', () => {
    expect(read([{ pid: 5, argv: ['a b', 'c'], name: 'x' }]).look.processes[0]).toMatchObject({
      argv: ['a b', 'c'],
      comm: 'x',
    });
    expect(read([{ pid: 5, ppid: 1, name: 'node', cmd: 'node x.js' }]).look.processes[0]).toMatchObject({
      comm: 'node',
      argv: ['node', 'x.js'],
    });
  });

  test('rows of several machines are read as one, with a warning', () => {
    expect(
      read([
        { source: 'a', pid: 5, command: 'x' },
        { source: 'b', pid: 6, command: 'y' },
      ]).look.warnings,
    ).toEqual(['The rows come from 2 sources and are read as one machine: parents may be mixed up.']);
  });
});

describe('what cannot be read is said in a sentence', () => {
  test.each<[string, string | Buffer, RegExp]>([
    ['nothing', '', /is empty/],
    ['blanks', ' \n\t\n', /is empty/],
    ['NULs', Buffer.from([1, 0, 2, 0]), /is not text/],
    ['half a JSON', JSON.stringify(own).slice(0, 400), /ends in the middle/],
    ['half a pretty JSON', JSON.stringify(own, null, 2).slice(0, 400), /ends in the middle/],
    ['broken JSON', '{"schema": 1, processes}', /not valid JSON/],
    ['another schema', JSON.stringify({ ...own, schema: 7 }), /schema 7.*reads schema 1/],
    ['no processes', '{"schema": 1}', /no list of processes/],
    ['other JSON', '[1, 2]', /no process in it/],
    ['an empty list', '[]', /no process in it/],
    ['prose', 'hello there', /no header row.*PID and COMMAND/],
    ['a listing without its header', '10 1 S claude\n11 10 S node', /no header row/],
    ['a header alone', 'PID COMMAND\n', /no process below it/],
  ])('%s', (_, input, sentence) => {
    const reading = readRecorded(input, { now: NOW, name: 'FILE' });
    expect(reading).toMatchObject({ ok: false, message: expect.stringMatching(sentence) });
    expect(reading.ok ? '' : reading.message).toMatch(/^FILE .*\.$/);
  });

  test('PowerShell writes UTF-16', () => {
    const text = Buffer.from('\u{feff}PID COMMAND\n5 claude\n', 'utf16le');
    expect(readRecorded(text, { now: NOW })).toMatchObject({ ok: true });
  });

  test('no input at all makes it throw', () => {
    const piece = fc.constantFrom(
      'PID',
      'COMMAND',
      'TTY',
      '\n',
      ' ',
      '12',
      '{"pid":1',
      '[',
      ']',
      '}',
      '"',
      'Z',
      '<defunct>',
      '?',
      '\\_ ',
      '1-02:03:04',
      'Feb 13',
      'null',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.array(piece).map(parts => parts.join(' ')),
        ),
        text => {
          readRecorded(text, { now: NOW });
        },
      ),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(fc.json(), text => {
        readRecorded(text, { now: NOW });
        readRecorded(`{"schema":1,"processes":[${text}],"host":${text},"takenAt":${text}}`, { now: NOW });
        readRecorded(`[{"pid":5,"command":${text},"etime":${text},"tty":${text},"rss":${text}}]`, {
          now: NOW,
        });
      }),
    );
  });
});

describe('as a system', () => {
  test('answers about its processes', async () => {
    const system = recordedSystem(read(own));
    const [agent, server] = (await system.sample()).processes;
    expect(system.readOnly).toBe('a recorded table: nothing can be signalled');
    const ask = { ...agent!, descriptors: true, sockets: true };
    expect((await system.details([ask, { ...ask, start: 'other' }])).get(keyOf(agent!))).toMatchObject({
      cwd: '/home/me',
    });
    expect((await system.environ([server!, agent!])).size).toBe(1);
    expect(await system.presence(100)).toMatchObject({
      status: 'present',
      identity: { pid: 100, start: '5001' },
    });
    expect(await system.presence(9)).toEqual({ status: 'gone' });
  });
});
