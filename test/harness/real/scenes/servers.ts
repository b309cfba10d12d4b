import { get, Agent as KeepAlive } from 'node:http';
import { until } from '../../../support/until.ts';
import { bash, ClaudeSession, claudeHome, MCP } from '../stage/claude.ts';
import type { Scene } from '../stage/scene.ts';
import { PATIENCE } from '../stage/terminal.ts';
import { openInput } from './bystanders.ts';
import { NEEDS } from './claude-killed.ts';

const FIGMA = 'figma-developer-mcp --figma-api-key=invented --port=';

/** A client that stays connected, as another agent would. */
const connect = async (port: number): Promise<void> => {
  const agent = new KeepAlive({ keepAlive: true, keepAliveMsecs: 1000 });
  await until(
    `port ${port} to answer`,
    () =>
      new Promise((resolve, reject) => {
        get({ port, host: '127.0.0.1', path: '/sse', agent }, response => resolve(response.statusCode)).on(
          'error',
          reject,
        );
      }),
    PATIENCE,
  );
};

const listens = (port: number): Promise<unknown> =>
  until(
    `port ${port} to be open`,
    () =>
      new Promise((resolve, reject) => {
        get({ port, host: '127.0.0.1', path: '/', agent: false }, response => {
          response.destroy();
          resolve(true);
        }).on('error', reject);
      }),
    PATIENCE,
  );

const http: Scene = {
  name: 'http-servers',
  about: 'HTTP servers of MCP at PPID 1, with a client and without, nobody knows whose',
  needs: ['figma-developer-mcp', 'tmux'],
  play: async stage => {
    claudeHome(stage);
    const wanted = { what: 'a wanted HTTP server', verdict: 'protected', kind: 'mcp' } as const;
    stage.is(await stage.detached(`${FIGMA}3333`), wanted);
    stage.is(await stage.detached(`${FIGMA}3334`), wanted);
    await listens(3333);
    await connect(3334);
  },
};

const leftHttp: Scene = {
  name: 'http-servers-left',
  about: 'the same, started by a session that was killed',
  needs: ['figma-developer-mcp', ...NEEDS],
  play: async stage => {
    claudeHome(stage);
    const claude = await ClaudeSession.open(stage, 'one');
    await claude.play(
      'serve',
      bash(`setsid ${FIGMA}3335 >/dev/null 2>&1 &`),
      bash(`setsid ${FIGMA}3336 >/dev/null 2>&1 &`),
    );
    await listens(3335);
    await connect(3336);
    await claude.killed();
    const server = (port: number) =>
      stage.seen(`the server on ${port}`, seen => seen.command.includes(`--port=${port}`));
    stage.is(await server(3335), {
      what: 'an HTTP server of a dead session',
      verdict: 'suspect',
      kind: 'mcp',
    });
    stage.is(await server(3336), {
      what: 'an HTTP server of a dead session with a client',
      verdict: 'protected',
      kind: 'mcp',
    });
  },
};

const orphans: Scene = {
  name: 'orphan-servers',
  about: 'stdio servers at PPID 1 whose origin nobody knows',
  needs: [...NEEDS, '@modelcontextprotocol/server-filesystem'],
  play: async stage => {
    claudeHome(stage, { memory: MCP.memory });
    // Somebody may still talk to it: its input is open.
    const doubtful = { what: 'a server without an owner', verdict: 'suspect', kind: 'mcp' } as const;
    stage.is(await stage.detached(`${openInput(stage, 'memory')} mcp-server-memory`), doubtful);
    stage.is(
      await stage.detached(`${openInput(stage, 'files')} mcp-server-filesystem /home/ada/work`),
      doubtful,
    );
    await ClaudeSession.open(stage, 'one');
  },
};

const orphansInContainer: Scene = {
  name: 'orphan-servers-container',
  about: 'the same in a container, where PPID 1 says nothing',
  needs: orphans.needs,
  first: 'container',
  play: async stage => {
    claudeHome(stage, { memory: MCP.memory });
    const doubtful = { what: 'a server without an owner', verdict: 'suspect', kind: 'mcp' } as const;
    stage.is(await stage.detached(`${openInput(stage, 'memory')} mcp-server-memory`), doubtful);
    await ClaudeSession.open(stage, 'one');
  },
};

export const SERVERS = [http, leftHttp, orphans, orphansInContainer];
