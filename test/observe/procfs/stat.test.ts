import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KERNEL_THREAD_FLAG, parseStat, ttyName } from '../../../src/observe/procfs/stat.ts';
import { rawProcess } from '../../support/proc.ts';
import { statLine } from './fake-proc.ts';

const parse = (line: Buffer | string) => {
  const buffer = Buffer.from(line as string);
  return parseStat(buffer, buffer.length);
};

describe('the stat of a process', () => {
  it('is the same as a naive reader finds for ourselves', () => {
    const stat = parse(readFileSync('/proc/self/stat'));
    const raw = rawProcess(process.pid);
    expect(stat).toMatchObject({
      ppid: process.ppid,
      pgid: raw?.pgid,
      sid: raw?.sid,
      start: raw?.start,
      comm: raw?.comm,
    });
    expect(stat?.rssPages).toBeGreaterThan(1000);
    expect(stat?.startStack).toBeGreaterThan(1);
  });

  it.each([
    'x) R 1 (',
    ') R 1 1 1 0',
    'a b',
    '(',
    ')',
    '))((',
    '',
    'new\nline',
    '\x1b[2J',
    'tab\there',
    'tmux: server',
  ])('is not misled by the name %j', comm => {
    expect(parse(statLine({ pid: 7, ppid: 42, comm, start: 12_345 }))).toMatchObject({
      comm,
      state: 'S',
      ppid: 42,
      start: '12345',
    });
  });

  it('replaces what is no UTF-8 in a name', () => {
    const stat = parse(statLine({ pid: 7, comm: Buffer.from([0x61, 0xff, 0xfe, 0x62]), ppid: 3 }));
    expect(stat).toMatchObject({ comm: 'a��b', ppid: 3 });
  });

  it('survives any name and any state', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 15 }),
        fc.constantFrom('R', 'S', 'D', 'Z', 'T', 't', 'I', 'X'),
        (comm, state) => {
          expect(
            parse(statLine({ pid: 9, ppid: 4, comm: Buffer.from(comm), state, start: 77 })),
          ).toMatchObject({
            state,
            ppid: 4,
            start: '77',
          });
        },
      ),
    );
  });

  it('calls nobody a zombie whose other threads run on', () => {
    expect(parse(statLine({ pid: 7, state: 'Z', threads: 1 }))?.state).toBe('Z');
    expect(parse(statLine({ pid: 7, state: 'Z', threads: 2 }))?.state).toBe('?');
    expect(parse(statLine({ pid: 7, state: 'S', threads: 2 }))?.state).toBe('S');
  });

  it('keeps a start time that no number could hold exactly', () => {
    const line = statLine({ pid: 7 }).toString().replace(' 1000 9000000 ', ' 12345678901234567890 9000000 ');
    expect(parse(line)?.start).toBe('12345678901234567890');
  });

  it('refuses every half of a line', () => {
    const line = statLine({ pid: 7, comm: 'half' });
    const needed = line.indexOf(' 140000 ') + 1;
    for (let length = 0; length <= needed; length += 1)
      expect(parseStat(line.subarray(0, length), length)).toBeNull();
    for (const text of ['', '\n', 'garbage', '7 (x', '7 x) S 1', '7 (x) S']) expect(parse(text)).toBeNull();
  });

  it('does not read beyond the given length', () => {
    const buffer = Buffer.concat([statLine({ pid: 7, comm: 'a' }), Buffer.from('(evil) R 666 ')]);
    expect(parseStat(buffer, statLine({ pid: 7, comm: 'a' }).length)).toMatchObject({ comm: 'a', ppid: 1 });
  });

  it('knows kernel threads by their flag', () => {
    const flags = parse(statLine({ pid: 2, flags: 0x208040 }))?.flags ?? 0;
    expect(flags & KERNEL_THREAD_FLAG).not.toBe(0);
  });
});

it.each([
  [0, null],
  [34_816, 'pts/0'],
  [34_819, 'pts/3'],
  [(137 << 8) | 4, 'pts/260'],
  [(4 << 8) | 1, 'tty1'],
  [(4 << 8) | 64, 'ttyS0'],
  [(5 << 8) | 1, 'console'],
  [(204 << 8) | 64, '204:64'],
])('tty number %d is called %s', (number, name) => {
  expect(ttyName(number)).toBe(name);
});
