import { backgroundSession, bash, ClaudeSession, claudeHome, claudes, MCP } from '../stage/claude.ts';
import type { Scene } from '../stage/scene.ts';
import type { Stage } from '../stage/stage.ts';
import { below } from '../stage/table.ts';
import { killed, NEEDS } from './claude-killed.ts';

/** `/exit`, and the second answer: the work goes on in a background session that adopts the shell. */
const moveToBackground = async (stage: Stage, claude: ClaudeSession): Promise<void> => {
  const shells = claude.below().filter(seen => /sleep 30|bash -c/.test(seen.command));
  claude.say('/exit');
  await claude.terminal!.shows('Move to background');
  claude.terminal!.keys('2');
  await stage.gone(claude.seen);
  await claude.terminal!.shows('backgrounded');
  const worker = await backgroundSession(stage);
  await stage.child(worker.pid, /mcp-server-memory/);
  stage.is(worker, {
    what: 'a background session',
    verdict: 'protected',
    kind: 'agent',
    owner: worker.pid,
  });
  for (const child of below(worker.pid))
    if (child.ppid === worker.pid)
      stage.is(child, { what: 'a server of the background session', verdict: 'live', owner: worker.pid });
  supervised(stage);
  for (const seen of stage.left(shells))
    stage.is(seen, {
      what: 'a shell that the background session adopted',
      verdict: 'live',
      owner: worker.pid,
    });
};

/** The supervisor, its terminals and its spare. */
const supervised = (stage: Stage): void => {
  for (const seen of claudes())
    if (!stage.knows(seen) && / daemon run|bg-pty-host|bg-spare/.test(seen.command))
      stage.is(seen, {
        what: 'part of the supervisor',
        verdict: 'protected',
        kind: 'agent',
        // Another spare, and the servers that a spare starts before anybody has claimed it.
        below: ['protected', 'live'],
      });
};

const moved: Scene = {
  name: 'claude-moved',
  about: '/exit, "Move to background": the running shell is adopted',
  needs: NEEDS,
  play: async stage => {
    claudeHome(stage, { memory: MCP.memory });
    const claude = await ClaudeSession.open(stage, 'one');
    await claude.play('work', bash('sleep 3001', true));
    await moveToBackground(stage, claude);
  },
};

const supervisor: Scene = {
  name: 'claude-supervisor',
  about: 'a background session, the dashboard open, and a killed session beside them',
  needs: NEEDS,
  play: async stage => {
    claudeHome(stage, { memory: MCP.memory });
    const claude = await ClaudeSession.open(stage, 'one');
    await claude.play('work', bash('sleep 3005', true));
    await moveToBackground(stage, claude);
    await killed(stage, 'two');
    const dashboard = await stage.terminal('three');
    dashboard.run('claude agents');
    const seen = await stage.child(dashboard.pid, /claude agents/);
    stage.is(seen, { what: 'the dashboard', verdict: 'live', kind: 'agent' });
    await stage.settled();
    supervised(stage); // a new spare may have been made ready
  },
};

const clearedAndMoved: Scene = {
  name: 'claude-cleared-moved',
  about: '/clear, then "Move to background": shells of both ids are adopted',
  needs: NEEDS,
  play: async stage => {
    claudeHome(stage, { memory: MCP.memory });
    const claude = await ClaudeSession.open(stage, 'one');
    await claude.play('work', bash('sleep 3001', true));
    await claude.renamed(() => claude.say('/clear'));
    await claude.play('more', bash('sleep 3009', true));
    await moveToBackground(stage, claude);
  },
};

export const CLAUDE_MOVED = [moved, clearedAndMoved, supervisor];
