import { execFileSync } from 'node:child_process';
import { chownSync, symlinkSync } from 'node:fs';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { safeArgv } from '../../../src/model/redact.ts';
import { createMcpConfigReader, parseMcpConfig } from '../../../src/observe/files/mcp-config.ts';
import { Sandbox } from '../../support/sandbox.ts';

/** As a user writes it; expanded by the agent, not by us. */
const VARIABLE = ['$', '{PWD:-/x}'].join('');

describe('configured MCP servers', () => {
  let sandbox: Sandbox;
  beforeEach(() => {
    sandbox = new Sandbox();
  });
  afterEach(() => sandbox.close());
  const request = () => ({
    home: sandbox.home,
    configDirs: [sandbox.path('home', '.claude')],
    projects: [sandbox.path('work')],
  });

  it('come from the project, the user and the settings', () => {
    const server = (command: string) => ({ mcpServers: { [`${command}-name`]: { command, args: ['--x'] } } });
    sandbox.write('work/.mcp.json', JSON.stringify(server('a')));
    sandbox.write('work/.claude/settings.json', JSON.stringify(server('b')));
    sandbox.write('work/.claude/settings.local.json', JSON.stringify(server('c')));
    sandbox.write('home/.claude/settings.json', JSON.stringify(server('d')));
    sandbox.write(
      'home/.claude.json',
      JSON.stringify({
        ...server('e'),
        projects: { '/p': server('f'), '/q': { mcpServers: {} }, '/r': null },
      }),
    );
    const { servers } = createMcpConfigReader()(request());
    expect(servers.map(s => s.command).sort()).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    expect(servers.find(s => s.command === 'a')).toEqual({
      name: 'a-name',
      command: 'a',
      args: ['--x'],
      source: sandbox.path('work', '.mcp.json'),
      rank: 'project',
    });
    const ranks = servers.map(s => `${s.command} ${s.rank}`).sort();
    expect(ranks).toEqual(['a project', 'b project', 'c project', 'd user', 'e user', 'f user']);
  });

  it('are those that speak stdio only, with secrets masked as in a collected argv', () => {
    const argv = ['npx', '-y', 'db-mcp', '--api-key', 'hunter2', '--dir', VARIABLE];
    const servers = [
      ...parseMcpConfig(
        JSON.stringify({
          mcpServers: {
            db: { type: 'stdio', command: argv[0], args: argv.slice(1), env: { TOKEN: 'hunter2' } },
            web: { type: 'http', url: 'https://example.test/mcp' },
            odd: { type: 'sse', command: 'x' },
            none: null,
            blank: { command: ' ' },
          },
        }),
        '.mcp.json',
      ),
    ];
    expect(servers.map(s => [s.command, ...s.args])).toEqual([safeArgv(argv)]);
    expect(JSON.stringify(servers)).not.toContain('hunter2');
    expect(JSON.stringify(servers)).toContain(VARIABLE);
  });

  it('follow a change of the file, and survive a half-written one', () => {
    const read = createMcpConfigReader();
    sandbox.write('work/.mcp.json', '{"mcpServers": {"one": {"command": "one"}}}');
    expect(read(request()).servers.map(s => s.name)).toEqual(['one']);
    sandbox.write('work/.mcp.json', '{"mcpServers": {"one": {"comm');
    expect(read(request()).servers.map(s => s.name)).toEqual(['one']);
    sandbox.write('work/.mcp.json', '{"mcpServers": {"second": {"command": "two"}}}');
    expect(read(request()).servers.map(s => s.name)).toEqual(['second']);
  });

  const many = (count: number) =>
    JSON.stringify({
      mcpServers: Object.fromEntries(
        Array.from({ length: count }, (_, n) => [`s${n}`, { command: 'sleep', args: [`${n}`] }]),
      ),
    });

  it.each([
    ['a file with more servers than anybody has', 300, 256],
    ['80,000 servers of one program', 80_000, 0],
  ])('%s: a bounded number, one warning', (_, count, known) => {
    sandbox.write('work/.mcp.json', many(count));
    const started = performance.now();
    const { servers, warnings } = createMcpConfigReader()(request());
    expect(performance.now() - started).toBeLessThan(2000);
    expect(servers).toHaveLength(known);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(sandbox.path('work', '.mcp.json'));
  });

  it('many files together are bounded too, and the user’s come first', () => {
    sandbox.write('home/.claude.json', '{"mcpServers": {"mine": {"command": "mine"}}}');
    const projects = Array.from({ length: 80 }, (_, n) => {
      sandbox.write(`p${n}/.mcp.json`, many(200));
      return sandbox.path(`p${n}`);
    });
    const { servers, warnings } = createMcpConfigReader()({ ...request(), projects });
    expect(servers).toHaveLength(1024);
    expect(servers[0]).toMatchObject({ command: 'mine', rank: 'user' });
    expect(warnings).toHaveLength(1);
  });

  it('a usual file gives no warning', () => {
    sandbox.write('work/.mcp.json', many(20));
    expect(createMcpConfigReader()(request())).toMatchObject({ warnings: [] });
  });

  it('a FIFO, a directory or a device in the place of a file configures nothing, and hangs nobody', () => {
    execFileSync('mkfifo', [sandbox.path('work', '.mcp.json')]);
    symlinkSync('/dev/zero', sandbox.path('home', '.claude.json'));
    sandbox.write('home/.claude/settings.json/x', '');
    expect(createMcpConfigReader()(request())).toEqual({ servers: [], warnings: [] });
  });

  it.skipIf(process.getuid?.() !== 0)(
    'another user’s file, or any in another user’s directory, is not read',
    () => {
      const text = '{"mcpServers": {"y": {"command": "sleep", "args": ["777"]}}}';
      const read = () => createMcpConfigReader()(request()).servers.length;
      sandbox.write('work/.mcp.json', text);
      sandbox.write('work/.claude/settings.json', text);
      expect(read()).toBe(2);
      chownSync(sandbox.path('work', '.mcp.json'), 65534, 65534);
      expect(read()).toBe(1);
      chownSync(sandbox.path('work', '.claude'), 65534, 65534);
      expect(read()).toBe(0);
      chownSync(sandbox.path('work', '.mcp.json'), 0, 0);
      chownSync(sandbox.path('work', '.claude'), 0, 0);
      expect(read()).toBe(2);
      chownSync(sandbox.path('work'), 65534, 65534);
      expect(read()).toBe(0);
    },
  );

  it('a settings file that is both the user’s and a project’s is the user’s', () => {
    sandbox.write('home/.claude/settings.json', '{"mcpServers": {"y": {"command": "y"}}}');
    const { servers } = createMcpConfigReader()({ ...request(), projects: [sandbox.home] });
    expect(servers.map(s => s.rank)).toEqual(['user']);
  });

  it('never make the reader throw', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        [
          ...parseMcpConfig(
            JSON.stringify({ mcpServers: { '"': value, x: { command: 'c', args: value } } }),
            's',
          ),
        ];
        [...parseMcpConfig(JSON.stringify({ mcpServers: value, projects: { '': value } }), 's')];
      }),
    );
  });
});
