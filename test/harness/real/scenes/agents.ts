import { AGENTS, type AgentName, AgentSession, agentHome } from '../stage/agents.ts';
import type { Scene } from '../stage/scene.ts';
import type { Stage } from '../stage/stage.ts';
import type { Seen } from '../stage/table.ts';
import type { Truth, Verdict } from '../truth.ts';

const needs = (name: AgentName) =>
  [...AGENTS[name].needs, '@modelcontextprotocol/server-memory', 'tmux'] as const;

/** What can be said of a job that left a live session: Copilot and OpenCode tell it their pid, the others do not. */
const JOB_OF_LIVE = {
  codex: ['suspect'],
  gemini: ['unknown'],
  opencode: ['live'],
  copilot: ['live'],
} as const satisfies Record<AgentName, readonly Verdict[]>;

/** Codex and Gemini name no process and list no sessions: what they left is proven only if it was seen below them. */
const LEFT_BY_KILLED = {
  codex: { verdict: ['suspect', 'leak'], watched: 'maybe' },
  gemini: { verdict: ['suspect', 'leak'], watched: 'maybe' },
  opencode: { verdict: 'leak' },
  copilot: { verdict: 'leak' },
} as const satisfies Record<AgentName, Pick<Truth, 'verdict' | 'watched'>>;

/** Gemini ends the group of its shell at once: the job must have left it before. */
const DETACH = (seconds: number): string => `setsid sleep ${seconds} >/dev/null 2>&1 & sleep 0.5`;

const job = (stage: Stage, seconds: number): Promise<Seen> =>
  stage.seen(`the job of ${seconds} s`, seen => seen.command === `sleep ${seconds}`);

/** At its prompt, with a server, and with a job that left it. */
const working = async (stage: Stage, name: AgentName): Promise<AgentSession> => {
  agentHome(stage, name);
  const session = await AgentSession.open(stage, name);
  await session.play('work', DETACH(3002));
  return session;
};

const live = (name: AgentName): Scene => ({
  name: `${name}-live`,
  about: `${name} at its prompt with an MCP server and a detached job`,
  needs: needs(name),
  play: async stage => {
    await working(stage, name);
    stage.is(await job(stage, 3002), { what: 'a job of a live session', verdict: JOB_OF_LIVE[name] });
    if (name === 'codex') await daemon(stage);
  },
});

const killed = (name: AgentName): Scene => ({
  name: `${name}-killed`,
  about: `the same, killed -9`,
  needs: needs(name),
  play: async stage => {
    const session = await working(stage, name);
    const detached = await job(stage, 3002);
    for (const seen of [...(await session.killed()), detached])
      stage.is(seen, { what: `left by the killed ${name}`, ...LEFT_BY_KILLED[name] });
  },
});

/** The daemon that the first TUI starts, with all that hangs below it. */
const daemon = async (stage: Stage): Promise<Seen> => {
  const kept = { what: 'the daemon of codex', verdict: 'protected', kind: 'agent', owner: null } as const;
  const found = await stage.seen('the daemon', seen =>
    /codex app-server .*--managed-daemon/.test(seen.command),
  );
  stage.is(found, kept);
  stage.is(
    await stage.seen('its updater', seen => /app-server daemon pid-update-loop/.test(seen.command)),
    kept,
  );
  for (const seen of stage.childrenOf(found))
    stage.is(seen, { what: 'what the daemon runs', verdict: 'live', owner: found.pid });
  return found;
};

/** Codex without its daemon: `codex exec` runs servers and shells itself. */
const codexExec: Scene = {
  name: 'codex-exec-killed',
  about: '`codex exec` with a server, a shell and a job, killed -9',
  needs: needs('codex'),
  play: async stage => {
    agentHome(stage, 'codex');
    const { shell } = AGENTS.codex;
    const cue = stage.standIn.scripts.write('run', [
      shell('sleep 3001'),
      shell(DETACH(3002)),
      { hold: new Promise(() => {}) },
    ]);
    const session = await AgentSession.run(
      stage,
      'codex',
      `codex exec --skip-git-repo-check ${cue} </dev/null`,
    );
    const left = [await job(stage, 3001), await job(stage, 3002)];
    for (const seen of new Set([...(await session.killed()), ...stage.left(left)]))
      stage.is(seen, { what: 'left by the killed codex exec', ...LEFT_BY_KILLED.codex, owner: 'dead' });
  },
};

const codexDaemon: Scene = {
  name: 'codex-daemon',
  about: 'two codex TUIs share a daemon; the one that started it is killed',
  needs: needs('codex'),
  play: async stage => {
    agentHome(stage, 'codex');
    const first = await AgentSession.open(stage, 'codex', 'one');
    await AgentSession.open(stage, 'codex', 'two');
    await first.play('work', 'sleep 3001', DETACH(3002));
    await first.killed();
    stage.is(await job(stage, 3002), {
      what: 'a job of the killed session: the other may be its owner',
      verdict: 'suspect',
    });
    await daemon(stage);
  },
};

const names = Object.keys(AGENTS) as AgentName[];
const KILLED_ALONE = names.filter(name => name !== 'codex');

export const OTHER_AGENTS = [...names.map(live), ...KILLED_ALONE.map(killed), codexExec, codexDaemon];
