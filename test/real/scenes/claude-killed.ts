import { bash, ClaudeSession, claudeHome, MCP } from '../stage/claude.ts';
import type { Scene } from '../stage/scene.ts';

const needs = [
  '@anthropic-ai/claude-code',
  '@modelcontextprotocol/server-memory',
  '@modelcontextprotocol/server-everything',
  'tmux',
] as const;

export const claudeLive: Scene = {
  name: 'claude-live',
  about: 'a session at its prompt with two MCP servers and shells in the background',
  needs,
  play: async stage => {
    claudeHome(stage, { memory: MCP.memory, everything: MCP.everything });
    const claude = await ClaudeSession.open(stage, 'one');
    await claude.play('work', bash('sleep 3001', true), bash('setsid nohup sleep 3002 >/dev/null 2>&1 &'));
    stage.is(await stage.seen('the setsid job', seen => seen.command === 'sleep 3002'), {
      what: 'a setsid job of a live session',
      verdict: 'live',
      owner: claude.pid,
    });
  },
};

export const claudeKilled: Scene = {
  name: 'claude-killed',
  about: 'the same, killed -9: servers go by themselves, shells and jobs stay',
  needs,
  play: async stage => {
    claudeHome(stage, { memory: MCP.memory, everything: MCP.everything });
    const live = await ClaudeSession.open(stage, 'other', '', stage.path('other'));
    await live.play('keep', bash('sleep 3003', true));
    const claude = await ClaudeSession.open(stage, 'one');
    await claude.play('work', bash('sleep 3001', true), bash('setsid nohup sleep 3002 >/dev/null 2>&1 &'));
    const job = await stage.seen('the setsid job', seen => seen.command === 'sleep 3002');
    for (const seen of [...(await claude.killed()), job])
      stage.is(seen, { what: 'left by the killed session', verdict: 'leak', owner: 'dead' });
  },
};
