import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { howSourceIsRead } from '../../../src/agents/files/configured-format.ts';
import type { FileReader } from '../../../src/agents/files/format-type.ts';
import { FORMATS } from '../../../src/agents/files/formats.ts';
import type { Reading } from '../../../src/model/heartbeat.ts';
import { parseTime } from '../../../src/model/time.ts';
import { readKnownFile } from '../../../src/observe/files/directory-rules.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { SAMPLE_FORMATS, SAMPLES } from './samples.ts';

const stat = { size: 1, mtimeMs: 1_790_000_000_000 };
const user = howSourceIsRead({
  name: 'u',
  glob: 'x.json',
  time: 'a.b',
  status: 'c[0]',
  pid: 'd',
  session: 'e',
});

const check = (read: FileReader, path: string, text: string, cut: boolean): void => {
  const result = read({ path, text, cut });
  if (!result.ok) {
    expect(result.why).not.toBe('');
    return;
  }
  const { content } = result;
  for (const time of [content.createdAt, content.updatedAt, ...content.members.map(m => m.updatedAt)])
    if (time !== null) expect(time > 9e11 && time < 4.2e12).toBe(true);
  for (const value of [content.task, content.operation, content.phase, content.sessionId, content.status])
    if (value !== null) expect(value).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
  for (const number of Object.values(content.counters)) expect(Number.isFinite(number)).toBe(true);
};

/** Fields the readers look at, filled with values of every type. */
const FIELDS = [
  ...'session_id task_number last_update phase operation proof status created started_at metadata'.split(' '),
  ...'partial_progress objectives current_objective active_projects agents continuation_count cycle_count'.split(
    ' ',
  ),
  ...'timestamp agent_id message progress action type subtype is_error stop_hook_active max_cycles a c d e'.split(
    ' ',
  ),
];
const nasty = fc.oneof(
  fc.jsonValue(),
  fc.double(),
  fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }).map(Number),
  fc.constantFrom('null', '$x', '\u001b[2J', '\u202etxt', '9'.repeat(400), 1e308, -1, '2026-02-31T00:00:00Z'),
  fc.date({ noInvalidDate: true }).map(d => d.toISOString()),
  fc.array(fc.dictionary(fc.constantFrom('id', 'status', 'project_number', 'started_at'), fc.jsonValue())),
);
const documents = fc.dictionary(fc.constantFrom(...FIELDS), nasty).map(value => JSON.stringify(value));

describe.each([...SAMPLE_FORMATS, 'user' as const])('the reader of %s', name => {
  const { read } = name === 'user' ? user : FORMATS[name].reader!;
  const { path, text } = name === 'user' ? { path: 'x.json', text: '{"a":{"b":1}}' } : SAMPLES[name];

  it('takes a valid file cut at any offset', () => {
    for (let end = 0; end <= text.length; end++)
      for (const cut of [false, true]) check(read, `/p/${path}`, text.slice(0, end), cut);
    for (let start = 0; start <= text.length; start++) check(read, `/p/${path}`, text.slice(start), true);
  });

  it('takes any bytes, any types, any numbers and any dates', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.boolean(), (bytes, cut) => {
        check(read, `/p/${path}`, Buffer.from(bytes).toString('utf8'), cut);
      }),
    );
    fc.assert(
      fc.property(fc.array(documents, { minLength: 1, maxLength: 3 }), fc.boolean(), (lines, cut) => {
        check(read, `/p/${path}`, lines.join('\n'), cut);
      }),
      { numRuns: 150 },
    );
  });
});

describe('the last good value', () => {
  it('survives whatever is written next', async () => {
    const sandbox = new Sandbox();
    for (const name of SAMPLE_FORMATS) {
      const { path, text } = SAMPLES[name];
      const file = sandbox.write(path, text);
      const read = (before: Reading | null) =>
        readKnownFile(
          file,
          sandbox.dir,
          { ...FORMATS[name].reader!, format: name, source: null },
          stat,
          before,
        );
      const good = read(null)!;
      expect(good.unreadable).toBeNull();
      for (const bad of ['', '{"half', 'null', '\u0000\u0001', '[]', text.slice(0, 20)]) {
        sandbox.write(path, bad);
        const now = read(good)!;
        if (now.unreadable === null) continue; // that format understands it
        const { mtime: _, size: __, unreadable: ___, ...kept } = now;
        expect(good).toMatchObject(kept);
      }
    }
    await sandbox.close();
  });
});

describe('parseTime', () => {
  it('reads every way these files write a time', () => {
    const noon = Date.UTC(2026, 0, 26, 12, 0, 0);
    const texts = [
      '2026-01-26T12:00:00Z',
      '2026-01-26T04:00:00-08:00',
      '2026-01-26T13:00:00+0100',
      '2026-01-26 12:00:00.000000Z',
      '2026-01-26T12:00Z',
      'Mon, 26 Jan 2026 12:00:00 GMT',
      String(noon / 1000),
      String(noon),
    ];
    for (const text of texts) expect([text, parseTime(text)]).toEqual([text, noon]);
    expect(parseTime(noon)).toBe(noon);
    expect(parseTime(noon / 1000)).toBe(noon);
    expect(parseTime('2025-10-29T22:54:42.123456')).toBe(new Date(2025, 9, 29, 22, 54, 42, 123).getTime());
  });

  it('takes nothing else for one', () => {
    const values = [
      '',
      'yesterday',
      '12:00',
      '2026-13-01',
      '2026-02-31T00:00:00Z',
      '2026-01-26T25:00:00Z',
      5,
      -1,
    ];
    for (const value of [...values, NaN, Infinity, null, {}, 1e30, '9999-01-01', 'x'.repeat(1e5)])
      expect([value, parseTime(value)]).toEqual([value, null]);
    fc.assert(fc.property(fc.anything(), value => void parseTime(value)));
  });
});
