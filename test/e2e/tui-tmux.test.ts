import { readdirSync } from 'node:fs';
import { extname } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BINDINGS } from '../../src/tui/keys/bindings.ts';
import { REAPTOP } from '../support/cli.ts';
import { leaveBehind, stubborn } from '../support/leftovers.ts';
import { showAtFirst } from '../support/pty.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

const RUN = `exec ${REAPTOP} --interval 0.5`;
const capture = (): string => sandbox.tmux('capture-pane', '-p', '-t', 'view');
const shows = async (wanted: RegExp): Promise<void> => {
  try {
    await until(`the pane to show ${wanted}`, () => wanted.test(capture()));
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${capture()}`);
  }
};

/** A stand-in for an agent, with a server below it. */
const agent = (server: string): string =>
  sandbox.write(`bin/${server}.d/claude`, `#!/bin/sh\n${sandbox.sleeper(server)} 600 &\nwait\n`, 0o755);

/** Bindings' key names as tmux spells them. */
const TMUX_KEYS: Readonly<Record<string, string>> = {
  up: 'Up',
  down: 'Down',
  left: 'Left',
  right: 'Right',
  pageup: 'PPage',
  pagedown: 'NPage',
  home: 'Home',
  end: 'End',
  enter: 'Enter',
  escape: 'Escape',
  tab: 'Tab',
  'shift-tab': 'BTab',
  space: 'Space',
  backspace: 'BSpace',
  delete: 'DC',
  f1: 'F1',
  ...Object.fromEntries([2, 3, 4, 5, 6, 9, 10].map(n => [`f${n}`, `F${n}`])),
  ...Object.fromEntries([...'bcflz'].map(letter => [`ctrl-${letter}`, `C-${letter}`])),
};

/**
 * A walk through the product: in each context the keys, and what the screen shows after each. Typed text is in
 * quotes. The stage has two leaks (`mcp-leak-a`, then one that ignores TERM) and an agent in the session `work`.
 */
const WALK: readonly (readonly [context: string, key: string, shows: RegExp])[] = [
  ['main', 'down', /^│?▌.*mcp-leak-a/m],
  ['main', 'j', /^│?▌.*▾ session/m],
  ['main', 'up', /^│?▌.*mcp-leak-a/m],
  ['main', 'k', /^│?▌.*▾ session/m],
  ['main', 'right', /^│?▌.*mcp-leak-a/m],
  ['main', 'left', /^│?▌.*▾ session/m],
  ['main', 'h', /^│?▌.*▸ session/m],
  ['main', 'l', /^│?▌.*▾ session/m],
  ['main', 'H', /─ Sessions and servers ─[\s\S]*▾ tmux work/],
  ['main', 'L', /─ Processes ─[\s\S]*mcp-leak-a/],
  ['main', '1', /─ Sessions ─/],
  ['main', '2', /─ Sessions and servers ─/],
  ['main', '3', /─ Processes ─/],
  ['main', 'w', /No session waits for you/],
  ['main', 'f3', /search ▏/],
  ['search', 'escape', /q quit/],
  ['main', 'f4', /filter ▏/],
  ['filter', 'escape', /q quit/],
  ['main', 'M', /one list/],
  ['main', 'f5', /by tmux/],
  ['main', 'home', / 1 of \d/],
  ['main', 'f9', /End: 1 process/],
  ['plan', 'escape', /Findings/],
  ['main', 'G', /(\d+) of \1 /],
  ['main', 'g', / 1 of \d/],
  ['main', 'end', /(\d+) of \1 /],
  ['main', 'home', / 1 of \d/],
  ['main', 'pagedown', /(\d+) of \1 /],
  ['main', 'pageup', / 1 of \d/],
  ['main', 'ctrl-f', /(\d+) of \1 /],
  ['main', 'ctrl-b', / 1 of \d/],
  ['main', 'x', /End: 1 process/],
  ['plan', 'escape', /Findings/],
  ['main', 'end', /(\d+) of \1 /],
  ['main', 'u', /Nothing is marked/],
  ['main', 'f', /Nothing to fix on this row/],
  ['main', 'A', /No finding on this row/],
  ['main', 'home', / 1 of \d/],
  ['main', 'J', /detail pane is closed/],
  ['main', 'K', /detail pane is closed/],
  ['main', 'o', /not in a tmux pane/],
  ['main', 'i', /not in a tmux pane/],
  ['main', '[', /Nothing was recorded yet/],
  ['main', ']', /Already live/],
  ['main', '{', /Nothing was recorded yet/],
  ['main', '}', /Already live/],
  ['main', 'z', /no zombies|Zombies: nudge/],
  ['main', 'escape', /q quit/],
  ['main', 'Y', /Copied pid/],
  ['main', '/', /filter ▏/],
  ['filter', 'tab', /search ▏/],
  ['search', '"mcp-"', /^│?▌.*mcp-leak-a[\s\S]*search mcp-▏/m],
  ['search', 'enter', /^│?▌.*mcp-stubborn/m],
  ['search', 'up', /^│?▌.*session/m],
  ['search', 'down', /^│?▌.*mcp-stubborn/m],
  ['search', 'backspace', /search mcp▏/],
  ['search', 'delete', /search mc▏/],
  ['search', 'tab', /filter mc▏/],
  ['filter', 'tab', /search mc▏/],
  ['search', 'escape', /^│?▌.*mcp-stubborn[\s\S]*q quit/m],
  ['main', 'Y', /Copied pid \d+[\s\S]*Y\s+again:\s+the\s+command/],
  ['main', 'Y', /Copied the command \(clipboard and\s+tmux\)/],
  ['main', 'e', /t text +s SVG +j JSON/],
  ['export', 't', /Written:\s/],
  ['main', 'e', /t text +s SVG +j JSON/],
  ['export', 's', /Written:\s/],
  ['main', 'e', /t text +s SVG +j JSON/],
  ['export', 'j', /Written:\s/],
  ['main', ',', /─ Setup ─[\s\S]*▌ theme +◂ auto ▸/],
  ['setup', 'down', /▌ refresh/],
  ['setup', 'up', /▌ theme/],
  ['setup', 'j', /▌ refresh/],
  ['setup', 'k', /▌ theme/],
  ['setup', 'right', /◂ default ▸/],
  ['setup', 'left', /◂ auto ▸/],
  ['setup', 'l', /◂ default ▸/],
  ['setup', 'h', /◂ auto ▸/],
  ['setup', 'space', /◂ default ▸/],
  ['setup', 'enter', /◂ light ▸/],
  ['setup', 'escape', /Findings[\s\S]*q quit/],
  ['main', 'f2', /─ Setup ─[\s\S]*◂ auto ▸/],
  ['setup', 'q', /Findings[\s\S]*q quit/],
  ['main', 'f2', /─ Setup ─/],
  ['setup', 's', /Saved to\s/],
  ['main', 'n', /(warn|critical|info): /],
  ['main', 'N', /(warn|critical|info): /],
  ['main', '/', /filter/],
  ['filter', '"mcp-leak-ab"', /filter mcp-leak-ab/],
  ['filter', 'backspace', /filter mcp-leak-a▏/],
  ['filter', '"b"', /filter mcp-leak-ab/],
  ['filter', 'delete', /filter mcp-leak-a▏/],
  ['filter', 'up', /^│?▌.*session/m],
  ['filter', 'down', /^│?▌.*mcp-leak-a/m],
  ['filter', 'escape', /mcp-stubborn[\s\S]*q quit/],
  ['main', '/', /filter/],
  ['filter', '"mcp-leak-a"', /filter mcp-leak-a/],
  ['filter', 'enter', /^│?▌.*mcp-leak-a[\s\S]*q quit/m],
  ['main', 'enter', /verdict +leak/],
  ['main', 'J', /verdict|owner|memory/],
  ['main', 'K', /verdict +leak/],
  ['main', 'enter', /Findings/],
  ['main', 'space', /1 marked/],
  ['main', 'x', /End: 1 process/],
  ['plan', 'n', /Findings/],
  ['main', 'x', /End: 1 process/],
  ['plan', 'down', /End: 1 process/],
  ['plan', 'up', /End: 1 process/],
  ['plan', 'j', /End: 1 process/],
  ['plan', 'k', /End: 1 process/],
  ['plan', 'pagedown', /End: 1 process/],
  ['plan', 'pageup', /End: 1 process/],
  ['plan', 'space', /End: 1 process/],
  ['plan', 'backspace', /End: 1 process/],
  ['plan', 'delete', /End: 1 process/],
  ['plan', 'y', /1 ended/],
  ['running', 'C', /Already done/],
  ['running', 'up', /1 ended/],
  ['running', 'down', /1 ended/],
  ['running', 'k', /1 ended/],
  ['running', 'j', /1 ended/],
  ['running', 'pageup', /1 ended/],
  ['running', 'pagedown', /1 ended/],
  ['running', 'escape', /^│?▌ gone .*mcp-leak-a/m],
  ['main', 'escape', /mcp-stubborn/],
  ['main', '/', /filter/],
  ['filter', '"mcp-stubborn"', /^│?▌.*mcp-stubborn/m],
  ['filter', 'enter', /^│?▌.*mcp-stubborn[\s\S]*q quit/m],
  ['main', 'space', /1 marked/],
  ['main', 'u', /^(?![\s\S]*1 marked)/],
  ['main', 'home', /^│?▌.*session/m],
  ['main', 'down', /^│?▌.*mcp-stubborn/m],
  ['main', 'S', /Choose a signal/],
  ['signals', 'down', /▌SIGINT/],
  ['signals', 'up', /▌SIGTERM/],
  ['signals', 'j', /▌SIGINT/],
  ['signals', 'k', /▌SIGTERM/],
  ['signals', 'enter', /Signal SIGTERM: 1 process/],
  ['plan', 'escape', /Findings/],
  ['main', 'c', /Clean what is proven leaked/],
  ['plan', 'escape', /Findings/],
  ['main', 'x', /End: 2 processes/],
  ['plan', 'y', /Working/],
  ['running', 'space', /Findings/],
  ['main', 'X', /still running/],
  ['main', 'escape', /mcp-in-pane/],
  ['main', 'tab', /Findings \d/],
  ['main', 'shift-tab', /Findings \d/],
  ['main', 's', /by memory/],
  ['main', 'f6', /by tree/],
  ['main', 't', /By project/],
  ['main', 't', /One flat list/],
  ['main', 't', /By tmux session/],
  ['main', 'M', /by memory[\s\S]*▼MEM/],
  ['main', 'P', /by cpu[\s\S]*▼CPU/],
  ['main', 'T', /▼AGE/],
  ['main', 't', /By tmux session/],
  ['main', 'a', /all processes/],
  ['main', 'a', /^(?![\s\S]*all processes)/],
  ['main', 'p', /FROZEN/],
  ['main', 'p', /^(?![\s\S]*FROZEN)/],
  ['main', '+', /every 1s/],
  ['main', '=', /every 2s/],
  ['main', '-', /every 1s/],
  ['main', '_', /every 0.5s/],
  ['main', 'r', /q quit/],
  ['main', 'ctrl-l', /q quit/],
  ['main', 'f1', /any other key leaves/],
  ['help', 'down', /any other key leaves/],
  ['help', 'up', /any other key leaves/],
  ['help', 'j', /any other key leaves/],
  ['help', 'k', /any other key leaves/],
  ['help', 'pagedown', /any other key leaves/],
  ['help', 'pageup', /any other key leaves/],
  ['help', 'space', /any other key leaves/],
  ['help', 'escape', /Findings/],
  ['main', '?', /any other key leaves/],
  ['help', 'escape', /Findings/],
  // The pane's own command has no shell to go back to: it comes back at once.
  ['main', 'ctrl-z', /q quit/],
];

/** Keys that end the walk, or that leave what another key leaves: pressed in the tests of those. */
// The other way out of a hung call is chosen in hung-call.test.ts.
const ELSEWHERE = new Set(['main q', 'main f10', 'main ctrl-c', 'running enter', 'running q', 'plan tab']);
/** An entry of the log is opened, scrolled and left in tui/log.test.ts: which line it is depends on this walk. */
for (const key of ['up', 'k', 'down', 'j']) ELSEWHERE.add(`entry ${key}`);

const type = (key: string): string => {
  const quoted = /^"(.*)"$/.exec(key)?.[1];
  return quoted === undefined
    ? sandbox.tmux('send-keys', '-t', 'view', TMUX_KEYS[key] ?? key)
    : sandbox.tmux('send-keys', '-t', 'view', '-l', quoted);
};

describe('in a tmux pane of 60×40', () => {
  it('every key of the table does something, or says why not', async () => {
    const walked = new Set(WALK.map(([context, key]) => `${context} ${key}`));
    const missing = BINDINGS.flatMap(b => b.keys.map(key => `${b.context} ${key}`)).filter(
      key => !walked.has(key) && !ELSEWHERE.has(key),
    );
    expect(missing).toEqual([]);

    await leaveBehind(sandbox, `${sandbox.sleeper('mcp-leak-a')} 600`);
    await leaveBehind(sandbox, stubborn(sandbox, 'mcp-stubborn'));
    // Younger than the leaks: an older agent that registered nowhere might own them.
    sandbox.tmux('new-session', '-d', '-s', 'work', '-x', '80', '-y', '24', agent('mcp-in-pane'));
    showAtFirst(sandbox, 3);
    sandbox.tmux('new-session', '-d', '-s', 'view', '-x', '60', '-y', '40', RUN);
    await shows(/mcp-leak-a[\s\S]*mcp-stubborn[\s\S]*mcp-in-pane/);
    for (const [, key, wanted] of WALK) {
      type(key);
      if (key === 'y')
        await until('the plan to run', () => {
          const screen = capture();
          if (screen.includes('Too early')) type('y');
          return /Working|Done/.test(screen);
        });
      await shows(wanted);
    }
    const written = readdirSync(sandbox.path('work')).map(name => extname(name));
    expect(written.sort()).toEqual(['.json', '.svg', '.txt']);
    type('q');
    await until('the pane to close', () => {
      if (!sandbox.tmux('list-sessions').includes('view')) return true;
      if (capture().includes('q again quits')) type('q');
      return false;
    });
  });
});

it('leaves nothing of itself in a pane that grew meanwhile', async () => {
  const server = sandbox.sleeper('mcp-server-tall');
  await leaveBehind(sandbox, `${server} 600`);
  const command = `echo before; ${REAPTOP} --all; echo left $?; sleep 600`;
  sandbox.tmux('new-session', '-d', '-s', 'view', '-x', '60', '-y', '20', command);
  await shows(/reaptop/);
  sandbox.tmux('resize-window', '-t', 'view', '-x', '100', '-y', '40');
  await until(
    'the grown screen',
    () =>
      capture()
        .split('\n')
        .findLastIndex(line => /q quit/.test(line)) > 25,
  );
  sandbox.tmux('send-keys', '-t', 'view', 'q');
  await shows(/^left 0$/m);
  expect(capture().split('\n').filter(Boolean)).toEqual(['before', 'left 0']);
});
