import { bash, ClaudeSession, claudeHome, MCP } from '../stage/claude.ts';
import type { Scene } from '../stage/scene.ts';
import { NEEDS } from './claude-killed.ts';

const subagents: Scene = {
  name: 'claude-subagents',
  about: 'two subagents with work of their own, then killed',
  needs: NEEDS,
  play: async stage => {
    claudeHome(stage, { memory: MCP.memory });
    stage.standIn.scripts.write('sub-one', [bash('sleep 3011', true)]);
    stage.standIn.scripts.write('sub-two', [bash('setsid nohup sleep 3012 >/dev/null 2>&1 &')]);
    const live = await ClaudeSession.open(stage, 'live', '', stage.path('other'));
    const agent = (name: string) => ({
      tool: 'Agent',
      input: { description: name, prompt: `play:${name}`, subagent_type: 'general-purpose' },
    });
    await live.play('parts', agent('sub-one'), agent('sub-two'));
    const job = await stage.seen('the job of a subagent', seen => seen.command === 'sleep 3012');
    stage.is(job, { what: 'a job of a subagent', verdict: 'live', owner: live.pid });
    await stage.seen('the shell of a subagent', seen => seen.command === 'sleep 3011');
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

export const CLAUDE_INSIDE = [subagents, mcpServe];
