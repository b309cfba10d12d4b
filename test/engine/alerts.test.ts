import { chmodSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Alerting, type News } from '../../src/engine/alerts.ts';
import { plainEnv } from '../support/sandbox.ts';
import { removed, until } from '../support/until.ts';

let here: string;
const troubles: string[] = [];
let alerting: Alerting;
beforeEach(() => {
  here = mkdtempSync(join(tmpdir(), 'reaptop-test-'));
  troubles.length = 0;
});
afterEach(async () => {
  alerting.stop();
  await removed(here);
});

const start = (...command: readonly string[]): Alerting => {
  alerting = new Alerting({ bell: false, tmux: false, command }, plainEnv(), {
    trouble: text => troubles.push(text),
  });
  return alerting;
};
const script = (text: string): string => {
  const path = join(here, 'notify.sh');
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
};
const news = (title: string): News => ({
  id: 'leak',
  severity: 'critical',
  title,
  why: '$(touch owned); `touch owned`',
  processes: [{ pid: 7, start: '1' }],
  files: [],
  remedy: 'c',
  action: 'clean',
});

describe("the user's own program", () => {
  test('gets the finding as JSON on stdin, once for each, and no word of it through a shell', async () => {
    const out = join(here, 'out');
    start(script('cat >> "$1"; echo "$#" >> "$2"'), out, join(here, 'count')).tell([news('a'), news('b')]);
    await until(
      'both to be told',
      () => existsSync(out) && readFileSync(out, 'utf8').split('\n').length === 3,
    );
    const told = readFileSync(out, 'utf8')
      .trim()
      .split('\n')
      .map(line => JSON.parse(line));
    expect(told.map(one => one.title).sort()).toEqual(['a', 'b']);
    expect(told[0]).toEqual(news(told[0].title));
    await until('its words to be counted', () => readFileSync(join(here, 'count'), 'utf8') === '2\n2\n');
    expect(existsSync(join(here, 'owned'))).toBe(false);
    expect(troubles).toEqual([]);
  });

  test.each([
    ['is not there', () => ['/nowhere/notify'], /did not work \(missing\)/],
    ['fails', () => [script('exit 3')], /did not work \(exit 3\)/],
    ['does not read what it is given', () => [script('exit 1')], /did not work/],
  ] as const)('that %s is said once, however often', async (_, command, says) => {
    const desk = start(...command());
    desk.tell([news('a'), news('b'), news('c')]);
    await until('the trouble', () => troubles.length > 0);
    desk.tell([news('d')]);
    expect(troubles).toHaveLength(1);
    expect(troubles[0]).toMatch(says);
  });

  test('is ended when the screen is left', async () => {
    const pid = join(here, 'pid');
    const desk = start(script(`echo $$ > ${pid}; exec sleep 600`));
    desk.tell([news('a')]);
    await until('it to run', () => existsSync(pid) && readFileSync(pid, 'utf8') !== '');
    desk.stop();
    await until('it to end', () => !existsSync(`/proc/${readFileSync(pid, 'utf8').trim()}`));
    expect(troubles).toEqual([]);
  });

  test('runs four times at once and no more, and what waits is run in its turn, thirty-two at most', async () => {
    const log = join(here, 'log');
    const go = join(here, 'go');
    const desk = start(script(`echo >> ${log}; while [ ! -e ${go} ]; do sleep 0.01; done`));
    const begun = (): number => (existsSync(log) ? readFileSync(log, 'utf8').length : 0);
    desk.tell(Array.from({ length: 40 }, (_, n) => news(`${n}`)));
    await until('four to run', () => begun() === 4);
    desk.tell([news('one more')]);
    expect(begun()).toBe(4);
    writeFileSync(go, '');
    await until('the rest to have run', () => begun() === 33);
    desk.tell([]);
    expect(troubles).toEqual([]);
  });

  test('what waits when the screen is left is not begun', async () => {
    const log = join(here, 'log');
    const desk = start(script(`echo $$ >> ${log}; exec sleep 600`));
    const begun = (): string[] => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []);
    desk.tell(Array.from({ length: 8 }, (_, n) => news(`${n}`)));
    await until('four to run', () => begun().length === 4);
    desk.stop();
    await until('them to end', () => begun().every(pid => !existsSync(`/proc/${pid}`)));
    expect(begun()).toHaveLength(4);
  });
});

describe('tmux', () => {
  const shown = async (tmux: boolean, ...titles: string[]): Promise<string> => {
    const out = join(here, 'said');
    const bin = join(here, 'tmux');
    writeFileSync(bin, `#!/bin/sh\nfor last; do :; done\nprintf '%s\\n' "$last" >> ${out}\n`);
    chmodSync(bin, 0o755);
    const notify = join(here, 'notified');
    const env = { ...plainEnv(), PATH: `${here}:${process.env.PATH}`, TMUX: '/tmp/none/default,1,0' };
    alerting = new Alerting({ bell: false, tmux, command: [script(`touch ${notify}`)] }, env, {
      trouble: text => troubles.push(text),
    });
    alerting.tell(titles.map(news));
    await until('the program', () => existsSync(notify));
    const message = (): string => (existsSync(out) ? readFileSync(out, 'utf8') : '');
    if (tmux) await until('the whole message', () => message().endsWith('\n'));
    return message();
  };

  test('shows the first title and how many more there are', async () => {
    expect(await shown(true, 'a', 'b', 'c')).toBe('reaptop: a (and 2 more)\n');
  });

  test('shows one title as it is', async () => {
    expect(await shown(true, 'a')).toBe('reaptop: a\n');
  });

  test('is not asked where the user does not want it', async () => {
    expect(await shown(false, 'a')).toBe('');
  });
});
