import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { REAPTOP, snapshotOf } from '../support/cli.ts';
import { Sandbox } from '../support/sandbox.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

/** As a file has it: an agent expands it, we never do. */
const VARIABLE = ['$', '{Y}'].join('');

const config = (args: readonly string[]): string =>
  JSON.stringify({ mcpServers: { y: { command: 'sleep', args } } });

const NAMESPACE = ['--pid', '--fork', '--mount-proc', '--kill-child'];
const alone = spawnSync('unshare', [...NAMESPACE, 'true']).status === 0;

/**
 * A machine whose PID 1 is called init, as on a host: in a container nothing is leaked by its name alone. It holds
 * the user's job, one server that is a leak, and perhaps an agent in `repo`, and is cleaned in earnest.
 */
const cleaned = (withAgent: boolean): Record<string, string> => {
  const server = sandbox.sleeper('mcp-server-git');
  sandbox.write('bin/claude', '#!/bin/sh\nsleep 600 & wait\n', 0o755);
  const reaptop = REAPTOP;
  const agent = `cd ${sandbox.path('repo')} && setsid ${sandbox.path('bin/claude')}`;
  const init = sandbox.write(
    'bin/init',
    `#!/bin/sh
/bin/true # takes PID 2, which nobody may end
: | setsid nohup sleep 777 >/dev/null 2>&1 & job=$!
: | setsid ${server} 600 >/dev/null 2>&1 & leak=$!
${withAgent ? `(${agent}) </dev/null >/dev/null 2>&1 &` : ''}
until [ "$(cat /proc/$job/comm)" = sleep ] && [ "$(cat /proc/$leak/comm)" = mcp-server-git ]; do sleep 0.05; done
${withAgent ? `until grep -qs claude /proc/[0-9]*/comm; do sleep 0.05; done` : ''}
${reaptop} --once --all --json > once.json
${reaptop} clean --force --age-threshold 0 > clean.txt 2>&1
state() { [ -d /proc/$1 ] && grep -q '^State:.[^Z]' /proc/$1/status && echo alive || echo ended; }
echo "job $(state $job)"; echo "leak $(state $leak)"; echo "pid $job"
`,
    0o755,
  );
  const { stdout } = spawnSync('unshare', [...NAMESPACE, init], {
    cwd: sandbox.path('work'),
    env: sandbox.env,
    encoding: 'utf8',
  });
  return Object.fromEntries(
    stdout
      .trim()
      .split('\n')
      .map(line => line.split(' ') as [string, string]),
  );
};

describe.skipIf(!alone).each([
  ['its exact words', ['777']],
  ['a variable', [VARIABLE]],
])('a user’s nohup job that a repository’s .mcp.json describes by %s', (_, args) => {
  it.each([
    ['in our own directory', 'work', false],
    ['in the directory of a running agent', 'repo', true],
  ])('%s, survives a clean-up that ends a real leak', (__, directory, withAgent) => {
    sandbox.write(`${directory}/.mcp.json`, config(args));
    expect(cleaned(withAgent)).toMatchObject({ job: 'alive', leak: 'ended' });
  });
});

describe.skipIf(!alone)('the same job, when the user’s own ~/.claude.json describes it', () => {
  it('is what the user said it is: a server, and a leak', () => {
    sandbox.write('home/.claude.json', config(['777']));
    expect(cleaned(false)).toMatchObject({ job: 'ended', leak: 'ended' });
  });
});

it('80,000 configured servers do not hold up a snapshot, and are said to be too many', async () => {
  const servers = Array.from({ length: 80_000 }, (_, n) => [`y${n}`, { command: 'sleep', args: [`${n}`] }]);
  sandbox.write('work/.mcp.json', JSON.stringify({ mcpServers: Object.fromEntries(servers) }));
  const started = performance.now();
  const { warnings } = await snapshotOf(sandbox);
  // It takes a fifth of a second; the rest is for a busy machine. It took more than 20 s.
  expect(performance.now() - started).toBeLessThan(5000);
  expect(warnings.filter(warning => warning.includes('MCP servers'))).toHaveLength(1);
});
