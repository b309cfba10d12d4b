import { claudeHome, MCP } from '../stage/claude.ts';
import type { Scene } from '../stage/scene.ts';
import type { Stage } from '../stage/stage.ts';
import { IN_CONTAINER, killed, NEEDS, PROVEN, type Proof } from './claude-killed.ts';

/** What nobody asked about. */
const WANTED = { what: "the user's own", verdict: 'unknown', owner: null } as const;

const HEADLESS =
  'chromium --headless --no-sandbox --disable-gpu --remote-debugging-port=9222 --user-data-dir=/home/ada/.chrome about:blank';

/** A file of the user's that keeps a standard input open, as a terminal would. */
export const openInput = (stage: Stage, name: string): string => {
  const fifo = stage.path(`.${name}-input`);
  return `sh -c 'mkfifo ${fifo}; exec 3<>${fifo}; exec "$@" <&3' sh`;
};

const services = async (stage: Stage): Promise<void> => {
  const redis = await stage.detached('redis-server --port 6379 --save ""');
  stage.is(redis, { ...WANTED, kind: 'other' });
  const data = stage.path('.postgres');
  const postgres = await stage.detached(
    `sh -c '/usr/lib/postgresql/15/bin/initdb -D ${data} >/dev/null && exec /usr/lib/postgresql/15/bin/postgres -D ${data} -k /tmp'`,
  );
  stage.is(postgres, { ...WANTED, kind: 'other' });
  await stage.seen('postgres to serve', seen => /postgres: walwriter/.test(seen.command));
};

const tools = async (stage: Stage): Promise<void> => {
  const terminal = await stage.terminal('site');
  stage.write('work/index.html', '<p>hello');
  terminal.run('vite --port 5173');
  stage.is(await stage.child(terminal.pid, /vite/), { ...WANTED, kind: 'other' });
  const tsserver = await stage.detached(`${openInput(stage, 'tsserver')} typescript-language-server --stdio`);
  stage.is(tsserver, { ...WANTED, kind: 'other' });
  stage.is(await stage.detached('nohup sleep 4001'), { ...WANTED, kind: 'other' });
};

const beside =
  (proof: Proof): Scene['play'] =>
  async stage => {
    claudeHome(stage, { memory: MCP.memory });
    await services(stage);
    await tools(stage);
    const browser = await stage.detached(HEADLESS);
    stage.is(browser, { ...WANTED, what: "the user's own headless browser" });
    for (const seen of await stage.strays(/chrome_crashpad/)) stage.is(seen, WANTED);
    await killed(stage, 'one', proof);
  };

const bystanders: Scene = {
  name: 'bystanders',
  about: 'vite, redis, postgres, a language server, nohup and a headless browser beside a killed session',
  needs: [...NEEDS, 'vite', 'typescript-language-server', 'redis-server', 'postgres', 'chromium'],
  play: beside(PROVEN),
};

export const BYSTANDERS = [
  bystanders,
  {
    ...bystanders,
    name: 'bystanders-container',
    about: 'the same in a container',
    first: 'container',
    play: beside(IN_CONTAINER),
  },
] as const satisfies readonly Scene[];
