import { bash, ClaudeSession, claudeHome, claudes, MCP } from '../stage/claude.ts';
import type { Scene } from '../stage/scene.ts';
import type { Stage } from '../stage/stage.ts';
import { below, type Seen } from '../stage/table.ts';
import { NEEDS } from './claude-killed.ts';

const WORKER = 'claude --dangerously-skip-permissions -p play:worker';
const BUSY = 'tail -f .mcp.json';

/** The claude in whose shell this runs. */
const workerOf = (busy: Seen): Seen =>
  claudes().find(claude => below(claude.pid).some(seen => seen.pid === busy.pid))!;

const workers = (stage: Stage, count: number): Promise<readonly Seen[]> =>
  stage.several(`${count} busy workers`, count, seen => seen.command === BUSY);

const orchestrated: Scene = {
  name: 'orchestrator',
  about:
    'an orchestrator that has ended left `nohup claude -p` at work, and one in a tmux session of its own',
  needs: NEEDS,
  play: async stage => {
    claudeHome(stage, { memory: MCP.memory });
    stage.standIn.scripts.write('worker', [bash(BUSY)]);
    for (let number = 0; number < 2; number++) {
      const seen = await stage.detached(`nohup ${WORKER}`);
      stage.is(seen, {
        what: 'a worker whose starter has ended, at work',
        verdict: 'suspect',
        kind: 'agent',
      });
    }
    const terminal = await stage.terminal('agent_TASK-1');
    terminal.run(`${WORKER} | tee worker.log`);
    await ClaudeSession.find(stage, terminal.pid);
    stage.is(await stage.child(terminal.pid, /^tee /), {
      what: 'the log of a worker',
      verdict: ['live', 'unknown'],
      kind: 'wrapper',
    });
    await workers(stage, 3);
  },
};

const HOST = `
import { query } from '@anthropic-ai/claude-agent-sdk';
const forever = new Promise(() => {});
const prompts = async function* () {
  yield { type: 'user', message: { role: 'user', content: 'play:worker' }, parent_tool_use_id: null, session_id: '' };
  await forever;
};
const options = { permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true };
for await (const message of query({ prompt: prompts(), options })) if (message === null) break;
`;

/** A program that runs a session through the SDK, with the session at work. */
const hosted = async (stage: Stage): Promise<{ host: Seen; claude: Seen }> => {
  claudeHome(stage, { memory: MCP.memory });
  stage.write('work/host.mjs', HOST);
  stage.standIn.scripts.write('worker', [bash(BUSY)]);
  const terminal = await stage.terminal('one');
  terminal.run('node host.mjs');
  const host = await stage.child(terminal.pid, /^node host.mjs/);
  stage.is(host, { what: 'the host of a session', verdict: ['live', 'unknown'], kind: 'other' });
  const [busy] = await workers(stage, 1);
  const claude = workerOf(busy!);
  stage.is(claude, {
    what: 'a session of the SDK',
    verdict: ['live', 'protected'],
    kind: 'agent',
    owner: claude.pid,
  });
  return { host, claude };
};

const SDK_NEEDS = [...NEEDS, '@anthropic-ai/claude-agent-sdk'] as const;

const sdkLive: Scene = {
  name: 'sdk-live',
  about: 'a session that a program runs through the SDK',
  needs: SDK_NEEDS,
  play: async stage => {
    await hosted(stage);
  },
};

const sdkKilled: Scene = {
  name: 'sdk-host-killed',
  about: 'the host is killed -9 while its session is at work',
  needs: SDK_NEEDS,
  play: async stage => {
    const { host, claude } = await hosted(stage);
    const before = below(claude.pid);
    await stage.kill([host]);
    await stage.settled();
    const left = stage.left(before);
    for (const seen of left)
      stage.is(seen, {
        what: 'a session whose host was killed, at work a moment ago',
        verdict: stage.left([claude]).length > 0 ? 'suspect' : 'leak',
      });
    stage.notes.push(left.length === 0 ? 'the session ends by itself' : `${left.length} processes stay`);
  },
};

export const WORKERS = [orchestrated, sdkLive, sdkKilled];
