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
    const servers = createMcpConfigReader()(request());
    expect(servers.map(s => s.command).sort()).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    expect(servers.find(s => s.command === 'a')).toEqual({
      name: 'a-name',
      command: 'a',
      args: ['--x'],
      source: sandbox.path('work', '.mcp.json'),
    });
  });

  it('are those that speak stdio only, with secrets masked as in a collected argv', () => {
    const argv = ['npx', '-y', 'db-mcp', '--api-key', 'hunter2', '--dir', VARIABLE];
    const servers = parseMcpConfig(
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
    );
    expect(servers.map(s => [s.command, ...s.args])).toEqual([safeArgv(argv)]);
    expect(JSON.stringify(servers)).not.toContain('hunter2');
    expect(JSON.stringify(servers)).toContain(VARIABLE);
  });

  it('follow a change of the file, and survive a half-written one', () => {
    const read = createMcpConfigReader();
    sandbox.write('work/.mcp.json', '{"mcpServers": {"one": {"command": "one"}}}');
    expect(read(request()).map(s => s.name)).toEqual(['one']);
    sandbox.write('work/.mcp.json', '{"mcpServers": {"one": {"comm');
    expect(read(request()).map(s => s.name)).toEqual(['one']);
    sandbox.write('work/.mcp.json', '{"mcpServers": {"second": {"command": "two"}}}');
    expect(read(request()).map(s => s.name)).toEqual(['second']);
  });

  it('never make the reader throw', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        parseMcpConfig(JSON.stringify({ mcpServers: { '"': value, x: { command: 'c', args: value } } }), 's');
        parseMcpConfig(JSON.stringify({ mcpServers: value, projects: { '': value } }), 's');
      }),
    );
  });
});
