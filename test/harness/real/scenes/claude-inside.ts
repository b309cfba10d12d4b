import { bash, ClaudeSession, claudeHome, MCP } from '../stage/claude.ts';
import type { Scene } from '../stage/scene.ts';
import type { Stage } from '../stage/stage.ts';
import type { Seen } from '../stage/table.ts';
import { NEEDS } from './claude-killed.ts';

const agent = (name: string) => ({
  tool: 'Agent',
  input: { description: name, prompt: `play:${name}`, subagent_type: 'general-purpose' },
});

/** A session whose subagents started a shell and a job. */
const withSubagents = async (stage: Stage): Promise<{ claude: ClaudeSession; job: Seen }> => {
  claudeHome(stage, { memory: MCP.memory });
  stage.standIn.scripts.write('sub-one', [bash('sleep 3011', true)]);
  stage.standIn.scripts.write('sub-two', [bash('setsid sleep 3012 >/dev/null 2>&1 &')]);
  const claude = await ClaudeSession.open(stage, 'one');
  await claude.play('parts', agent('sub-one'), agent('sub-two'));
  const job = await stage.seen('the job of a subagent', seen => seen.command === 'sleep 3012');
  return { claude, job };
};

const subagents: Scene = {
  name: 'claude-subagents',
  about: 'two subagents with work of their own',
  needs: NEEDS,
  play: async stage => {
    const { claude, job } = await withSubagents(stage);
    stage.is(job, { what: 'a job of a subagent', verdict: 'live', owner: claude.pid });
  },
};

const subagentsKilled: Scene = {
  name: 'claude-subagents-killed',
  about: 'the same, killed -9',
  needs: NEEDS,
  play: async stage => {
    const { claude, job } = await withSubagents(stage);
    for (const seen of [...(await claude.killed()), job])
      stage.is(seen, { what: 'left by a subagent', verdict: 'leak', owner: 'dead' });
  },
};

const mcpServe: Scene = {
  name: 'claude-mcp-serve',
  about: '`claude mcp serve` as a server of a live session',
  needs: NEEDS,
  play: async stage => {
    claudeHome(stage, { inner: { command: 'claude', args: ['mcp', 'serve'] }, memory: MCP.memory });
    const claude = await ClaudeSession.open(stage, 'one');
    const serve = await stage.child(claude.pid, /claude mcp serve/);
    stage.is(serve, { what: 'claude as a server', verdict: 'live', kind: 'mcp', owner: claude.pid });
  },
};

const mcpServeKilled: Scene = {
  name: 'claude-mcp-serve-killed',
  about: 'the same, killed -9',
  needs: NEEDS,
  play: async stage => {
    claudeHome(stage, { inner: { command: 'claude', args: ['mcp', 'serve'] }, memory: MCP.memory });
    const claude = await ClaudeSession.open(stage, 'one');
    await stage.child(claude.pid, /claude mcp serve/);
    const left = await claude.killed();
    for (const seen of left) stage.is(seen, { what: 'a server of the killed session', verdict: 'leak' });
    stage.notes.push(left.length === 0 ? 'the servers end by themselves' : `${left.length} processes stay`);
  },
};

export const CLAUDE_INSIDE = [subagents, subagentsKilled, mcpServe, mcpServeKilled];
