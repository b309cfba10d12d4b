import { describe, expect, test } from 'vitest';
import type { ProcessFacts } from '../../../src/model/process.ts';
import { readRecorded } from '../../../src/observe/recorded/load.ts';

const NOW = new Date(2026, 1, 9, 15, 0, 0).getTime();

const look = (text: string) => {
  const reading = readRecorded(text, { now: NOW });
  if (!reading.ok) throw new Error(reading.message);
  return reading.table.look;
};
const read = (text: string): readonly ProcessFacts[] => look(text).processes;
const only = (text: string): ProcessFacts => {
  const [first, ...more] = read(text);
  expect(more).toEqual([]);
  return first!;
};
const age = (text: string): number | null => {
  const { clock, processes } = look(text);
  const born = processes[0]!.born;
  return born === null ? null : clock - born;
};

describe('columns are found by their names', () => {
  test('ps aux of Linux', () => {
    const p = only(`USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND
me         12491 12.5  1.0 1234567 98304 pts/3    Sl+  13:02   1:05 claude --resume abc`);
    expect(p).toMatchObject({
      pid: 12491,
      ppid: null,
      uid: null,
      tty: 'pts/3',
      state: 'S',
      rss: 98304 * 1024,
    });
    expect(p).toMatchObject({
      cpuSeconds: 65,
      cpu: null,
      comm: 'claude',
      argv: ['claude', '--resume', 'abc'],
    });
    expect(p.born).toBe(new Date(2026, 1, 9, 13, 2).getTime() / 1000);
  });

  test('ps aux of macOS: ?? is no terminal, s003 is ttys003, U is D', () => {
    const rows = read(`USER               PID  %CPU %MEM      VSZ    RSS   TT  STAT STARTED      TIME COMMAND
me                 536   0.0  0.1 34567890  12345 s003  U+    9:05AM   0:00.02 -zsh
root                 1   0.0  0.1 34567890  12345   ??  Ss   Sat09AM   1:02.33 /sbin/launchd`);
    expect(rows.map(p => [p.pid, p.tty, p.state, p.comm, p.uid])).toEqual([
      [536, 'ttys003', 'D', 'zsh', null],
      [1, null, 'S', 'launchd', 0],
    ]);
    expect(look('  PID TTY COMMAND\n 1 ?? /sbin/launchd').host.platform).toBe('darwin');
  });

  test('ps -ef, ps -elf, ps axj', () => {
    expect(
      only(`UID          PID    PPID  C STIME TTY          TIME CMD
1000        4242       1  0 Feb13 ?        00:00:03 node server.js`),
    ).toMatchObject({ pid: 4242, ppid: 1, uid: 1000, tty: null, state: '?', argv: ['node', 'server.js'] });
    expect(
      only(`F S UID          PID    PPID  C PRI  NI ADDR SZ WCHAN  STIME TTY          TIME CMD
4 S me            77       1  0  80   0 -  4641 do_wai 02:28 ?        00:00:05 tmux new -s x`),
    ).toMatchObject({ pid: 77, ppid: 1, state: 'S', argv: ['tmux', 'new', '-s', 'x'] });
    expect(
      only(`   PPID     PID    PGID     SID TTY        TPGID STAT   UID   TIME COMMAND
      1    1136    1135    1134 ?             -1 Ss    1000   0:00 lake serve`),
    ).toMatchObject({ pid: 1136, ppid: 1, pgid: 1135, sid: 1134, uid: 1000 });
  });

  test('a session on macOS is a pointer, and unknown columns hold one word', () => {
    expect(only(`  PID SESS FOO COMMAND\n  12 ffffa0 bar claude -p`)).toMatchObject({
      pid: 12,
      sid: null,
      argv: ['claude', '-p'],
    });
  });

  test('any order, with the command in the middle', () => {
    expect(
      read(`COMMAND                         PID    PPID                  STARTED TTY
node server.js --port 8080 99     10       1 Fri Feb  6 12:52:44 2026 pts/1
sh                               11      10 Fri Feb  6 12:52:45 2026 ?`),
    ).toMatchObject([
      { pid: 10, ppid: 1, tty: 'pts/1', argv: ['node', 'server.js', '--port', '8080', '99'] },
      { pid: 11, ppid: 10, tty: null, argv: ['sh'] },
    ]);
  });

  test('name and command side by side, both called COMMAND', () => {
    expect(
      read(`    PID COMMAND         COMMAND
    751 tmux: server    tmux new-session -d
    752 2.1.220         /home/me/.local/share/claude/versions/2.1.220 -p
1234567 npm exec @model npm exec @modelcontextprotocol/server`),
    ).toMatchObject([
      { pid: 751, comm: 'tmux: server', argv: ['tmux', 'new-session', '-d'] },
      { pid: 752, comm: '2.1.220', argv: ['/home/me/.local/share/claude/versions/2.1.220', '-p'] },
      { pid: 1234567, comm: 'npm exec @model', argv: ['npm', 'exec', '@modelcontextprotocol/server'] },
    ]);
    expect(
      read(`    PID COMMAND                     COMMAND
    751 node server.js --port       node`),
    ).toMatchObject([{ comm: 'node', argv: ['node', 'server.js', '--port'] }]);
    expect(
      read(`    PID COMMAND           RSS COMMAND
    751 Web Content      1024 /usr/lib/firefox -contentproc`),
    ).toMatchObject([{ comm: 'Web Content', rss: 1024 ** 2, argv: ['/usr/lib/firefox', '-contentproc'] }]);
  });

  test("macOS's COMM is a path with spaces", () => {
    expect(
      only(
        `  PID COMM             ARGS\n  12 /Applications/My /Applications/My App.app/Contents/MacOS/My App -x`,
      ).argv,
    ).toEqual(['/Applications/My App.app/Contents/MacOS/My App', '-x']);
    expect(only(`  PID UCOMM\n  12 claude`)).toMatchObject({ comm: 'claude', argv: null });
  });
});

describe('times', () => {
  test.each([
    ['ELAPSED', '2-03:04:05', 183845],
    ['ETIME', '07:28:16', 26896],
    ['ELAPSED', '15:19', 919],
    ['ETIMES', '23044', 23044],
    ['LSTART', 'Mon Feb  9 14:59:00 2026', 60],
    ['STARTED', 'Mon 09 Feb 14:59:00 2026', 60],
    ['STARTED', '2026-02-09 14:59:00', 60],
    ['START', '14:59', 60],
    ['START', '2:59PM', 60],
    ['START', '15:59', 82860],
    ['START', 'Sat03PM', 2 * 86400],
    ['START', 'Feb 08', 86400 + 15 * 3600],
    ['STIME', 'Feb08', 86400 + 15 * 3600],
    ['STARTED', '08Feb26', 86400 + 15 * 3600],
    ['START', '2025', null],
    ['START', 'nonsense', null],
  ])('%s %s', (title, cell, seconds) => {
    expect(age(`  PID ${title} TTY COMMAND\n   12 ${cell} ? x y`)).toBe(seconds);
  });

  test('start and age together, or the ps that made it, tell when the listing was made', () => {
    expect(look('PID STARTED ELAPSED CMD\n7 Fri Feb  6 12:00:00 2026 01:00 x').takenAt).toBe(
      new Date(2026, 1, 6, 12, 1).getTime(),
    );
    expect(
      look('PID STARTED CMD\n7 Fri Feb  6 11:00:00 2026 x\n9 Fri Feb  6 12:00:00 2026 ps -o x').takenAt,
    ).toBe(new Date(2026, 1, 6, 12, 0).getTime());
  });

  test('the start is part of the identity and does not depend on when we look', () => {
    const text = 'PID STARTED CMD\n7 Fri Feb  6 11:00:00 2026 x';
    const later = readRecorded(text, { now: NOW + 1e7 });
    expect(later.ok && later.table.look.processes[0]!.start).toBe(only(text).start);
  });
});

describe('zombies, kernel threads and names without arguments', () => {
  test.each([
    ['Z', '[lake.orig] <defunct>', 'lake.orig'],
    ['Z+', '(node)', 'node'],
    ['Z', '<defunct>', '<defunct>'],
    ['S', '[lake] <defunct>', 'lake'],
    ['Z', 'claude <defunct>', 'claude'],
  ])('%s %s is the zombie %s', (stat, command, comm) => {
    expect(only(`PID PPID STAT COMMAND\n 9 8 ${stat} ${command}`)).toMatchObject({
      state: 'Z',
      argv: null,
      comm,
    });
  });

  test('children of kthreadd are the kernel, children of another PID 2 are not', () => {
    const [, thread] = read('PID PPID STAT CMD\n2 0 S [kthreadd]\n9 2 I [kworker/0:1-events]');
    expect(thread).toMatchObject({ kernelThread: true, comm: 'kworker/0:1-events', argv: null });
    const [, child] = read('PID PPID STAT CMD\n2 1 S node worker.js\n9 2 S sh');
    expect(child).toMatchObject({ kernelThread: false, argv: ['sh'] });
  });

  test('the drawing of ps axf is no part of the command', () => {
    expect(
      read(String.raw`    PID TTY      STAT   TIME COMMAND
    100 ?        Ss     0:00 tmux
    101 pts/0    Ss     0:00  \_ -bash
    102 pts/0    Sl+    0:09  |   \_ claude
    103 pts/0    Z+     0:00  |       \_ [lake.orig] <defunct>`).map(p => [p.comm, p.state]),
    ).toEqual([
      ['tmux', 'S'],
      ['bash', 'S'],
      ['claude', 'S'],
      ['lake.orig', 'Z'],
    ]);
  });
});

describe('pasted as people paste', () => {
  test('prompts, fences, blank lines, CRLF, colours and repeated headers', () => {
    const text = [
      'here is what I see:',
      '```',
      'me@box:~/work$ ps -eo pid,ppid,args | grep claude',
      '[me@box ~]$ ps -eo pid,ppid,args',
      '    PID    PPID COMMAND',
      '     10       1 \x1b[01;31mclaude\x1b[m -p',
      '',
      'Every 2.0s: ps -eo pid,ppid,args',
      '    PID    PPID COMMAND',
      '     11      10 node x.js',
      'me@box:~/work$ ',
      '```',
    ].join('\r\n');
    expect(read(text)).toMatchObject([
      { pid: 10, argv: ['claude', '-p'] },
      { pid: 11, argv: ['node', 'x.js'] },
    ]);
  });

  test('a listing that starts with a bracketed prompt is not JSON', () => {
    expect(read('[me@box ~]$ ps\nPID CMD\n10 claude')).toHaveLength(1);
  });

  test('a line that cannot be a row continues the command before it', () => {
    const wide = `     10 node ${'x'.repeat(80)} --fi`;
    expect(read(`    PID COMMAND\n${wide}\nrst --second\n     11 sh`)).toMatchObject([
      { pid: 10, argv: ['node', 'x'.repeat(80), '--first', '--second'] },
      { pid: 11 },
    ]);
    expect(only('    PID COMMAND\n     10 node\n  --more')).toMatchObject({ argv: ['node', '--more'] });
  });

  test('a pid that appears twice keeps its first row, and numbers no kernel gives are refused', () => {
    const { processes, warnings } = look(
      'PID PPID RSS CMD\n10 1 5 real\n10 1 5 forged\n99999999999 1 5 x\n12 88888888 5 x\n13 1 99999999999999999999 x\n-4 1 5 x\n0 1 5 x',
    );
    expect(processes.map(p => p.comm)).toEqual(['real']);
    expect(warnings.join(' ')).toMatch(/5 lines.*left out.*1 row repeated a PID/);
  });

  test('secrets and escapes do not survive the reading, not even where the listing lost the quotes', () => {
    const text = `PID CMD
10 claude --settings {"env": {"A": "hunter2"}} --token hunter2 -H Authorization: Bearer hunter2
11 claude --mcp-config {"env": {"A": "hunter2 and it is cut he
12 evil\u{202e}\x9bname`;
    expect(JSON.stringify(read(text))).not.toMatch(/hunter2|\u{202e}|\x9b/u);
  });
});

test.each([
  ['systemd', false],
  ['/sbin/init splash', false],
  ['/sbin/launchd', false],
  ['/init', false],
  ['tini -- node server.js', true],
  ['sleep infinity', true],
])('PID 1 %s: in a container is %s', (command, contained) => {
  expect(look(`PID CMD\n1 ${command}\n7 x`).host.container).toBe(contained);
});

test('without PID 1 in the table nothing says container, and rows may be missing', () => {
  expect(look('PID CMD\n7 x')).toMatchObject({ complete: false, self: null, host: { container: false } });
});

describe('a table that lacks what judging needs says so, and what to run instead', () => {
  const COMMAND = /Record it with: ps -axwwo pid,ppid,pgid,tty,stat,rss,etime,command$/;

  test('no PPID column, no RSS column', () => {
    expect(look('PID RSS COMMAND\n5 1 claude').warnings).toEqual([
      expect.stringMatching(/^This table has no PPID column, so nothing in it can be judged\. /),
    ]);
    expect(look('PID PPID COMMAND\n5 1 claude').warnings).toEqual([
      expect.stringMatching(/^This table has no RSS column, so memory is unknown\. /),
    ]);
    for (const warning of look('PID COMMAND\n5 claude').warnings) expect(warning).toMatch(COMMAND);
    expect(look('PID PPID RSS COMMAND\n5 1 1 claude').warnings).toEqual([]);
  });

  const row = (pid: number, command: string) => `${String(pid).padStart(5)}     1   100 ${command}`;
  const LONG = ['/usr/lib/firefox/firefox', '/opt/claude/cli.js --resume', '/usr/bin/python3 -m server'].map(
    (command, n) => row(n + 5, `${command} ${'x'.repeat(200)}`),
  );
  const table = (rows: readonly string[]): string => ['  PID  PPID   RSS COMMAND', ...rows].join('\n');

  test('lines cut at 80 columns', () => {
    expect(look(table(LONG.map(line => line.slice(0, 80)))).warnings).toEqual([
      expect.stringMatching(/^Lines are cut at column 80, so agents and servers may be missing\. /),
    ]);
  });

  test('whole lines, alike or wrapped by the terminal, are not called cut', () => {
    const wrapped = LONG.flatMap(line => [line.slice(0, 80), line.slice(80, 120)]);
    expect(look(table(wrapped)).warnings).toEqual([]);
    expect(look(table(LONG.map((line, n) => line.slice(0, 80 + n)))).warnings).toEqual([]);
    const same = [5, 6, 7].map(pid =>
      row(pid, `node /home/me/node_modules/.bin/playwright-mcp ${'y'.repeat(40)}`),
    );
    expect(look(table(same)).warnings).toEqual([]);
  });
});

describe('the drawing of ps auxf', () => {
  const HEADER = 'USER       PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND';
  const line = (pid: number, command: string) =>
    `me       ${String(pid).padStart(5)}  0.0  0.1   9000  4000 ?        S    13:02   0:00 ${command}`;
  const parents = (...lines: string[]) =>
    read([HEADER, ...lines].join('\n')).map(p => [p.pid, p.ppid, p.argv?.[0] ?? p.comm]);

  test('gives the parents; what stands at the left is a child of PID 1', () => {
    const rows = [
      line(2, '[kthreadd]'),
      line(3, ' \\_ [kworker/0:0]'),
      line(1, '/sbin/init'),
      line(100, 'tmux'),
      line(101, ' \\_ -zsh'),
      line(102, ' |   \\_ claude'),
      line(103, ' |       \\_ lean-lsp-mcp'),
      line(104, ' \\_ -bash'),
      line(105, '     \\_ codex'),
      line(200, 'playwright-mcp'),
    ];
    expect(parents(...rows)).toEqual([
      [2, 0, 'kthreadd'],
      [3, 2, 'kworker/0:0'],
      [1, 0, '/sbin/init'],
      [100, 1, 'tmux'],
      [101, 100, '-zsh'],
      [102, 101, 'claude'],
      [103, 102, 'lean-lsp-mcp'],
      [104, 100, '-bash'],
      [105, 104, 'codex'],
      [200, 1, 'playwright-mcp'],
    ]);
    expect(look([HEADER, ...rows].join('\n')).warnings).toEqual([]);
  });

  test('gives no parent where the line of the parent is missing', () => {
    expect(parents(line(102, ' |   \\_ claude'), line(103, ' |       \\_ lean-lsp-mcp'))).toEqual([
      [102, null, 'claude'],
      [103, 102, 'lean-lsp-mcp'],
    ]);
  });
});
