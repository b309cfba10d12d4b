import { bash, ClaudeSession, claudeHome, MCP } from '../stage/claude.ts';
import type { Scene } from '../stage/scene.ts';
import type { Stage } from '../stage/stage.ts';
import type { Truth } from '../truth.ts';

export const NEEDS = [
  '@anthropic-ai/claude-code',
  '@modelcontextprotocol/server-memory',
  '@modelcontextprotocol/server-everything',
  'tmux',
] as const;

const servers = { memory: MCP.memory, everything: MCP.everything };

/** A session that started a shell in the background and a job that left it; both run on. */
export const working = async (stage: Stage, name: string): Promise<ClaudeSession> => {
  const claude = await ClaudeSession.open(stage, name);
  await claude.play(`work-${name}`, bash('sleep 3001', true), bash('setsid sleep 3002 >/dev/null 2>&1 &'));
  stage.is(await stage.seen('the setsid job', seen => seen.command === 'sleep 3002'), {
    what: 'a setsid job of a live session',
    verdict: 'live',
    owner: claude.pid,
  });
  return claude;
};

/** The same session, and then killed -9; what it leaves is leaked. */
export const killed = async (stage: Stage, name: string, proof: Proof = PROVEN): Promise<void> => {
  const claude = await working(stage, name);
  const job = await stage.seen('the setsid job', seen => seen.command === 'sleep 3002');
  await claude.play(`detach-${name}`, bash('setsid nohup sleep 3008 >/dev/null 2>&1 &'));
  const kept = await stage.seen('the nohup job', seen => seen.command === 'sleep 3008');
  for (const seen of await claude.killed())
    stage.is(seen, { what: 'left by the killed session', ...proof, owner: 'dead' });
  // It left its shell at once: whoever watched may have missed it below the session.
  const seenOrNot = proof === PROVEN ? 'leak' : (['suspect', 'leak'] as const);
  stage.is(job, { what: 'a job of the killed session', verdict: seenOrNot, owner: 'dead' });
  stage.is(kept, { what: 'detached with nohup by the killed session', verdict: 'suspect', owner: 'dead' });
};

/** What a look after the end can say, and what only somebody who watched can prove. */
export type Proof = Pick<Truth, 'verdict' | 'watched'>;
export const PROVEN: Proof = { verdict: 'leak' };
/** In a container a pid that a variable names may be of another namespace. */
export const IN_CONTAINER: Proof = { verdict: 'suspect', watched: 'leak' };

const claudeLive: Scene = {
  name: 'claude-live',
  about: 'a session at its prompt with two MCP servers and shells in the background',
  needs: NEEDS,
  play: async stage => {
    claudeHome(stage, servers);
    await working(stage, 'one');
  },
};

const claudeKilled: Scene = {
  name: 'claude-killed',
  about: 'the same, killed -9 beside a live one: servers go by themselves, shells and jobs stay',
  needs: NEEDS,
  play: async stage => {
    claudeHome(stage, servers);
    const live = await ClaudeSession.open(stage, 'other', '', stage.path('other'));
    await live.play('keep', bash('sleep 3003', true));
    await killed(stage, 'one');
  },
};

const claudeInContainer: Scene = {
  ...claudeKilled,
  name: 'claude-killed-container',
  about: 'the same where PID 1 is the entry point of a container',
  first: 'container',
  play: async stage => {
    claudeHome(stage, servers);
    await killed(stage, 'one', IN_CONTAINER);
  },
};

const terminalClosed: Scene = {
  name: 'claude-terminal-closed',
  about: 'the tmux session of a claude is killed: it ends, its jobs stay',
  needs: NEEDS,
  play: async stage => {
    claudeHome(stage, servers);
    await stage.terminal('another');
    const claude = await working(stage, 'one');
    const before = claude.below();
    const job = await stage.seen('the setsid job', seen => seen.command === 'sleep 3002');
    claude.terminal!.kill();
    await stage.gone(claude.seen);
    await stage.settled();
    for (const seen of [...stage.left(before), job])
      stage.is(seen, { what: 'left by the closed session', verdict: 'leak', owner: 'dead' });
  },
};

const nestedClaude: Scene = {
  name: 'claude-nested-killed',
  about: 'a session that ran `claude -p` for a question of its own is killed; the inner one works on',
  needs: NEEDS,
  play: async stage => {
    claudeHome(stage, servers);
    stage.standIn.scripts.write('inner', [bash('tail -f .mcp.json')]);
    const claude = await ClaudeSession.open(stage, 'one');
    await claude.play('outer', bash('claude --dangerously-skip-permissions -p play:inner', true));
    await stage.seen('the inner shell', seen => seen.command === 'tail -f .mcp.json');
    for (const seen of await claude.killed())
      stage.is(seen, {
        what: 'a worker whose starter was killed, at work',
        verdict: 'suspect',
      });
  },
};

const SANDBOX = { enabled: true, failIfUnavailable: true, allowUnsandboxedCommands: false };

/** The helper's environment may not be read: of it and what is below nothing more is known than the tree. */
const sandboxed: Scene = {
  name: 'claude-sandboxed-killed',
  about: 'a session whose Bash tool runs in bubblewrap is killed -9 beside a live one; the sandbox stays',
  needs: [...NEEDS, 'bwrap', 'socat'],
  play: async stage => {
    claudeHome(stage, servers, { sandbox: SANDBOX });
    const live = await ClaudeSession.open(stage, 'other', '', stage.path('other'));
    await live.play('keep', bash('sleep 3003', true));
    await stage.seen('the sandboxed job', seen => seen.command === 'sleep 3003');
    const claude = await ClaudeSession.open(stage, 'one');
    await claude.play('work', bash('sleep 3001', true));
    await stage.seen('the sandboxed job', seen => seen.command === 'sleep 3001');
    for (const seen of await claude.killed())
      if (seen.command.startsWith('socat UNIX-LISTEN'))
        // It names no session, and whoever finds its socket may connect.
        stage.is(seen, { what: 'the way out of the sandboxes', verdict: ['suspect', 'unknown'] });
      else stage.is(seen, { what: 'left in the sandbox of the killed session', verdict: 'leak' });
    const root = await stage.some(
      'the outer shell',
      ({ ppid, command }) => ppid === 1 && / bwrap /.test(command),
    );
    stage.is(root, { what: 'the shell around the sandbox', verdict: 'leak', kind: 'wrapper', owner: 'dead' });
  },
};

export const CLAUDE_KILLED = [
  claudeLive,
  claudeKilled,
  claudeInContainer,
  terminalClosed,
  nestedClaude,
  sandboxed,
];
