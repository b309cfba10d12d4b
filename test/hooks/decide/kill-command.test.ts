import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { broadKillsIn, type KillTarget } from '../../../src/hooks/decide/kill-command.ts';

/** What it would kill, of two processes and a port; '' when it is not read as a broad kill. */
const told = (target: KillTarget | undefined): string => {
  if (target === undefined) return '';
  if (target.by === 'port') return `port ${target.ports.join()}`;
  if (target.by === 'tmux') return `tmux ${target.socket ?? ''}`.trim();
  if (target.by !== 'name') return target.by;
  const processes: readonly [string, string][] = [
    ['node', 'node server.js'],
    ['vite', 'node /app/node_modules/.bin/vite --port 1'],
    ['python3', 'python3 -m http.server'],
  ];
  return processes
    .filter(([name, line]) => target.fits(name, line))
    .map(([name]) => name)
    .join(' ');
};
const kills = (line: string): string =>
  broadKillsIn(line)
    .map(({ target }) => told(target))
    .join('; ');

describe('what a command line would kill', () => {
  test.each<[string, string]>([
    ['pkill node', 'node'],
    ['pkill -9 node', 'node'],
    ['pkill -f node', 'node vite'],
    ['/usr/bin/pkill -KILL -f "node server"', 'node'],
    ['pkill -f vite || true', 'vite'],
    ['sudo -n pkill -f vite', 'vite'],
    ['pkill -x nod', ''],
    ['pkill -x node', 'node'],
    ['pkill -if NODE', 'node vite'],
    ['pkill --signal KILL --full "^node .*vite"', 'vite'],
    ['pkill "node|python3"', 'node python3'],
    ['killall node', 'node'],
    ['killall -9 -q node python3', 'node python3'],
    ['cd app && npm run build; killall node 2>/dev/null &', 'node'],
    ['kill -9 -1', 'everything'],
    ['kill -s TERM -- -1', 'everything'],
    ['kill $(pgrep -f vite)', 'vite'],
    ['kill -9 `pidof node`', 'node'],
    ['kill -9 "$(lsof -ti:3000)"', 'port 3000'],
    ['kill $(lsof -t -i tcp:3000 -sTCP:LISTEN)', 'port 3000'],
    ['lsof -ti :3000 | xargs kill -9', 'port 3000'],
    ['pgrep node | xargs -r kill', 'node'],
    ["ps aux | grep '[n]ode server' | grep -v grep | awk '{print $2}' | xargs kill -9", 'node'],
    ["kill $(ps aux | grep 'node\\|python3' | awk '{print $2}')", 'node vite python3'],
    ['fuser -k 3000/tcp', 'port 3000'],
    ['fuser -n tcp -k 3000 8080', 'port 3000,8080'],
    ['tmux kill-server', 'tmux'],
    ['tmux -L test kill-server', 'tmux test'],
    ['docker kill $(docker ps -q)', 'containers'],
    ['docker rm -f $(docker ps -aq)', 'containers'],
    ['bash -c "pkill node"', 'node'],
    ["timeout 5 sh -c 'killall vite'", 'vite'],
    ['if true; then pkill vite; fi', 'vite'],
    ['(pkill vite)', 'vite'],
    ['X=1 pkill vite # and a comment', 'vite'],
    ['pkill node; pkill vite', 'node; vite'],
  ])('%s: %s', (line, hit) => expect(kills(line)).toBe(hit));
});

describe('what is not read as a broad kill', () => {
  test.each([
    'kill 4711',
    'kill -9 4711 4712',
    'kill -1 4711',
    'kill %1',
    'kill $PID',
    'kill $(cat server.pid)',
    'kill $!',
    'pkill -P 4711',
    'pkill -f "$NAME"',
    'pkill -f "(a+)+$"',
    'pkill',
    'echo pkill node',
    'grep -r "pkill node" .',
    "git commit -m 'pkill node'",
    '# pkill node',
    "cat > x <<'EOF'\npkill node\nEOF\nls",
    'docker kill web',
    'docker ps',
    'tmux kill-session -t mine',
    'fuser 3000/tcp',
    'pkill "node',
    'skill list',
    'xargs kill < pids',
    `pkill ${'x'.repeat(9000)}`,
  ])('%s', line => expect(kills(line)).toBe(''));
});

test('no command line takes long or throws', () => {
  const piece = fc.constantFrom(
    ...[
      'pkill ',
      'kill ',
      '$(',
      '`',
      ')',
      "'",
      '"',
      '\\',
      '|',
      '&',
      ';',
      '-f ',
      '.*',
      '[',
      'a',
      '\n',
      '#',
      '<',
      '>',
      '-1 ',
      'xargs ',
    ],
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 400 }), pieces => {
      const began = performance.now();
      for (const { target } of broadKillsIn(pieces.join('')))
        if (target.by === 'name') target.fits('a'.repeat(15), 'a'.repeat(4000));
      expect(performance.now() - began).toBeLessThan(500);
    }),
    { numRuns: 300 },
  );
});
