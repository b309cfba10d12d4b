import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { keyOf } from '../../../src/model/identity.ts';
import { parseSysctl } from '../../../src/observe/darwin/host.ts';
import { parseJobs } from '../../../src/observe/darwin/launchd.ts';
import { parseLsof } from '../../../src/observe/darwin/lsof.ts';
import { PsReader, parsePs } from '../../../src/observe/darwin/ps.ts';
import { environmentIn, parseTop } from '../../../src/observe/darwin/system.ts';
import { DarwinTable, wordsOf } from '../../../src/observe/darwin/table.ts';

/** As the kernel's bytes arrive. */
const bytes = (text: string): string => Buffer.from(text).toString('latin1');
const line = (
  name: string,
  args: string,
  head = '  501     1   501 16/3 Ss+    501   501  12345   1:02.50',
): string =>
  bytes(
    `${head} Thu Sep 10 08:31:58 2026     ${name.padEnd(16 - (Buffer.byteLength(name) - name.length))} ${args}`,
  );

describe('what ps prints', () => {
  test('is cut by position: names and arguments may hold spaces', () => {
    expect(
      parsePs(line('Code Helper', '/Applications/Visual Studio Code.app/Contents/Code Helper --type=x')),
    ).toEqual([
      {
        pid: 501,
        ppid: 1,
        pgid: 501,
        tty: 'ttys003',
        stat: 'Ss+',
        uid: 501,
        realUid: 501,
        rss: 12_345 * 1024,
        cpuSeconds: 62.5,
        start: String(Date.UTC(2026, 8, 10, 8, 31, 58) / 1000),
        name: 'Code Helper',
        args: '/Applications/Visual Studio Code.app/Contents/Code Helper --type=x',
      },
    ]);
  });

  test('counts bytes, not characters', () => {
    const [row] = parsePs(line('grüße', '/bin/grüße äöü'));
    expect(row).toMatchObject({ name: 'grüße', args: '/bin/grüße äöü' });
  });

  test.each([
    ['0:00.01', 0.01],
    ['12:34.56', 754.56],
    ['1:02:03.45', 3723.45],
    ['2-01:00:00', 176_400],
    ['-', null],
  ])('CPU time %s', (time, seconds) => {
    const head = `    9     1     9   ?? S        0     0      1 ${time.padStart(9)}`;
    expect(parsePs(line('x', 'x', head))[0]).toMatchObject({ cpuSeconds: seconds, tty: null });
  });

  test('leaves out what is not a row', () => {
    expect(parsePs('\nps: warning\n  12 half a row')).toEqual([]);
  });
});

describe('a table that is read again', () => {
  const row = (pid: number, args = 'node a.js', rss = 12_345): string =>
    `${line('node', args, `${String(pid).padStart(5)}     1   501   ?? S      501   501 ${String(rss).padStart(6)}   0:01.00`)}\n`;

  test('has the same rows where no line changed, also where processes came and went around them', () => {
    const { read } = new PsReader();
    const [one, , three] = read(row(1) + row(2) + row(3));
    const again = read(row(1) + row(7) + row(3));
    expect(again[0]).toBe(one);
    expect(again[2]).toBe(three);
  });

  test('does not take a line that was cut off for the beginning of another', () => {
    const { read } = new PsReader();
    read(row(1).trimEnd());
    expect(read(row(1, 'node a.jsx'))).toEqual([expect.objectContaining({ args: 'node a.jsx' })]);
  });

  test('is what it would be if it were read for the first time, whatever was read before', () => {
    const process = fc.record({
      pid: fc.integer({ min: 1, max: 12 }),
      args: fc.constantFrom('node a.js', 'node a.jsx', 'grüße'),
      rss: fc.integer({ min: 1, max: 3 }),
    });
    const texts = fc
      .uniqueArray(process, { selector: ({ pid }) => pid, maxLength: 12 })
      .chain(rows => fc.tuple(fc.constant(rows), fc.boolean()))
      .map(([rows, whole]) => {
        const text = rows.map(({ pid, args, rss }) => row(pid, args, rss)).join('');
        return whole ? text : text.slice(0, -1);
      });
    fc.assert(
      fc.property(fc.array(texts, { maxLength: 6 }), tables => {
        const { read } = new PsReader();
        for (const table of tables) expect(read(table)).toEqual(parsePs(table));
      }),
    );
  });
});

describe('the words of a command line without quotes', () => {
  test.each([
    ['node', 'node server.js --port 1', ['node', 'server.js', '--port', '1']],
    [
      'Code Helper (Ren',
      '/Applications/Visual Studio Code.app/X/Code Helper (Renderer) --type=renderer',
      ['/Applications/Visual Studio Code.app/X/Code Helper (Renderer)', '--type=renderer'],
    ],
    [
      'Electron',
      '/Applications/Visual Studio Code.app/Contents/MacOS/Electron .',
      ['/Applications/Visual Studio Code.app/Contents/MacOS/Electron', '.'],
    ],
    [
      '2.1.325',
      '/Users/me/.local/share/claude/versions/2.1.325',
      ['/Users/me/.local/share/claude/versions/2.1.325'],
    ],
    ['claude', 'claude', ['claude']],
    ['node', '/usr/bin/env node x', ['/usr/bin/env', 'node', 'x']],
  ])('%s: %s', (name, args, words) => expect(wordsOf(name, args)).toEqual(words));
});

describe('the table', () => {
  const rows = (args: string, cpu = '0:01.00') =>
    parsePs(line('node', args, `  501     1   501   ?? S      501   501  12345 ${cpu.padStart(9)}`));

  test('keeps the same object while nothing changes, and the same words while nothing is executed', () => {
    const table = new DarwinTable();
    const [first] = table.read(rows('node a.js'), 2_000_000_000);
    const [second] = table.read(rows('node a.js'), 2_000_000_002);
    const [third] = table.read(rows('node a.js'), 2_000_000_004);
    const [fourth] = table.read(rows('node a.js', '0:02.00'), 2_000_000_006);
    const [fifth] = table.read(rows('node b.js', '0:02.00'), 2_000_000_008);
    expect(second).toMatchObject({ cpu: 0 });
    expect(third).toBe(second);
    expect([fourth!.cpu, fourth!.argv]).toEqual([50, first!.argv]);
    expect(fourth!.argv).toBe(first!.argv);
    expect(fifth!.argv).toEqual(['node', 'b.js']);
  });

  test('forgets who ended, and knows the next process with its pid by its start', () => {
    const table = new DarwinTable();
    const [old] = table.read(rows('node a.js'), 2_000_000_000);
    const key = keyOf(old!);
    expect(table.rowOf(key)).toMatchObject({ args: 'node a.js' });
    const young = rows('node a.js').map(row => ({ ...row, start: String(Number(row.start) + 1) }));
    const [next] = table.read(young, 2_000_000_002);
    expect(next).not.toMatchObject({ start: old!.start });
    expect([table.rowOf(key), table.rowOf(keyOf(next!))]).toEqual([undefined, young[0]]);
    table.read([], 2_000_000_004);
    expect([table.rowOf(keyOf(next!)), table.rows()]).toEqual([undefined, []]);
  });

  test('names zombies, and leaves out the tools that we run ourselves', () => {
    const zombie = parsePs(
      line('lake', '<defunct>', '    9   501     9   ?? Z      501   501      0   0:00.00'),
    );
    const ours = parsePs(
      line(
        'ps',
        'ps -axww',
        `   10 ${String(process.pid).padStart(5)}    10   ?? R      501   501      0   0:00.00`,
      ),
    );
    const [facts, ...more] = new DarwinTable().read([...zombie, ...ours], 2_000_000_000);
    expect(facts).toMatchObject({ state: 'Z', comm: 'lake', argv: null });
    expect(more).toEqual([]);
  });
});

describe('an environment behind the arguments', () => {
  test('is what follows them; an argument that looks like one is not', () => {
    const args = 'node x.js CLAUDE_PID=1';
    expect(environmentIn(`${args} HOME=/Users/me CLAUDE_PID=77 TERM=x`, args)).toEqual({
      HOME: '/Users/me',
      CLAUDE_PID: '77',
    });
  });

  test('nothing behind them, or other arguments, prove nothing', () => {
    expect(environmentIn('node x.js', 'node x.js')).toBeNull();
    expect(environmentIn('node y.js HOME=/', 'node x.js')).toBeNull();
    expect(environmentIn('node x.js and more', 'node x.js')).toBeNull();
  });
});

test('lsof: one field a line', () => {
  expect(
    parseLsof(
      'p12\nfcwd\ntDIR\nn/Users/me/a b\nf0\ntunix\nd0xabc\nn->0xdef\nf5\ntIPv4\nn*:3000\nTST=LISTEN\nTQR=0\np13\nf1\ntREG\nn/x\n',
    ),
  ).toEqual([
    { pid: 12, fd: 'cwd', type: 'DIR', device: '', name: '/Users/me/a b', tcp: null },
    { pid: 12, fd: '0', type: 'unix', device: '0xabc', name: '->0xdef', tcp: null },
    { pid: 12, fd: '5', type: 'IPv4', device: '', name: '*:3000', tcp: 'LISTEN' },
    { pid: 13, fd: '1', type: 'REG', device: '', name: '/x', tcp: null },
  ]);
  expect(parseLsof('garbage\nn/x\n')).toEqual([]);
});

test('launchctl list: those that run, by pid', () => {
  expect([...parseJobs('PID\tStatus\tLabel\n-\t0\tcom.apple.idle\n77\t0\tcom.example.x\nhalf')]).toEqual([
    [77, 'com.example.x'],
  ]);
});

test('sysctl: what a system does not have is unknown', () => {
  expect(parseSysctl('')).toEqual({ bootId: null, level: null, swapUsed: null, pressure: null });
  expect(
    parseSysctl(
      'kern.bootsessionuuid: 5D1C6D5B-9D0B-4C38-8A0E-0F1F0B6B7F11\nkern.memorystatus_level: 101\nvm.swapusage: total = 1.00G  used = 1.50G\nkern.memorystatus_vm_pressure_level: 4',
    ),
  ).toEqual({
    bootId: '5d1c6d5b-9d0b-4c38-8a0e-0f1f0b6b7f11',
    level: null,
    swapUsed: 1.5 * 1024 ** 3,
    pressure: 'critical',
  });
  expect(parseSysctl('kern.memorystatus_vm_pressure_level: 1').pressure).toBe('normal');
  expect(parseSysctl('kern.memorystatus_vm_pressure_level: 3').pressure).toBeNull();
});

test('top: what each process holds for itself, whether it grew or shrank', () => {
  const text = 'Processes: 400 total\nPID    MEM\n412    42M+\n7      1024K-\n88     2G  \nx 1M\n';
  expect([...parseTop(text)]).toEqual([
    [412, 42 * 1024 ** 2],
    [7, 1024 ** 2],
    [88, 2 * 1024 ** 3],
  ]);
});
