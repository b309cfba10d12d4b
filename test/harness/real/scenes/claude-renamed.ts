import { bash, ClaudeSession, claudeHome, MCP } from '../stage/claude.ts';
import type { Scene } from '../stage/scene.ts';
import { killed, NEEDS, working } from './claude-killed.ts';

const cleared: Scene = {
  name: 'claude-cleared',
  about: '/clear in a session with servers, shells and jobs: all of it is still its own',
  needs: NEEDS,
  play: async stage => {
    claudeHome(stage, { memory: MCP.memory, everything: MCP.everything });
    const claude = await working(stage, 'one');
    await claude.renamed(() => claude.say('/clear'));
    await claude.play('after', bash('setsid sleep 3006 >/dev/null 2>&1 &'));
    stage.is(await stage.seen('a job after /clear', seen => seen.command === 'sleep 3006'), {
      what: 'a job started after /clear',
      verdict: 'live',
      owner: claude.pid,
    });
  },
};

const resumedInside: Scene = {
  name: 'claude-resumed-inside',
  about: '/clear and then /resume of the first conversation in one process: all of it is still its own',
  needs: NEEDS,
  play: async stage => {
    claudeHome(stage, { memory: MCP.memory });
    const claude = await working(stage, 'one');
    const { id } = claude;
    await claude.renamed(() => claude.say('/clear'));
    await claude.play('after', bash('sleep 3006', true));
    await claude.renamed(() => claude.say(`/resume ${id}`));
  },
};

const resumed: Scene = {
  name: 'claude-resumed',
  about: 'a killed session is resumed the next morning: it adopts nothing of what was left',
  needs: NEEDS,
  play: async stage => {
    claudeHome(stage, { memory: MCP.memory });
    const claude = await working(stage, 'one');
    const { id } = claude;
    const job = await stage.seen('the setsid job', seen => seen.command === 'sleep 3002');
    for (const seen of [...(await claude.killed()), job])
      stage.is(seen, { what: 'left before the resume', verdict: 'suspect' });
    await ClaudeSession.open(stage, 'two', `--resume ${id}`);
  },
};

const forked: Scene = {
  name: 'claude-forked',
  about: 'a fork of a live session beside it, then twins of one id: everything belongs to somebody',
  needs: NEEDS,
  play: async stage => {
    claudeHome(stage, { memory: MCP.memory });
    const claude = await working(stage, 'one');
    stage.findings.add('duplicate-server'); // both have the project's server
    await ClaudeSession.open(stage, 'two', `--fork-session --resume ${claude.id}`);
  },
};

const twins: Scene = {
  name: 'claude-twins',
  about: 'two sessions of one directory, one of them killed',
  needs: NEEDS,
  play: async stage => {
    claudeHome(stage, { memory: MCP.memory, everything: MCP.everything });
    await killed(stage, 'one');
    const live = await ClaudeSession.open(stage, 'two');
    await live.play('second', bash('sleep 3007', true));
  },
};

export const CLAUDE_RENAMED = [cleared, resumedInside, resumed, forked, twins];
