import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { until } from '../../../support/until.ts';
import { CLI } from '../product.ts';
import { bash, ClaudeSession, claudeHome } from '../stage/claude.ts';
import type { Scene } from '../stage/scene.ts';
import type { Stage } from '../stage/stage.ts';
import { everybody } from '../stage/table.ts';
import { PATIENCE } from '../stage/terminal.ts';
import { NEEDS } from './claude-killed.ts';

const STATE = '.local/state/reaptop';

const install = (stage: Stage): void => {
  const { status, stderr } = spawnSync(process.execPath, [CLI, 'hook', 'install'], {
    env: stage.env,
    cwd: stage.path('work'),
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`hook install: ${stderr}`);
};

const log = (stage: Stage): string => {
  const path = stage.path(STATE, 'hook.log');
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
};

/** Everything that results told the model in a script. */
const told = (stage: Stage, name: string): string =>
  stage.standIn.scripts.heard
    .filter(heard => heard.name === name)
    .flatMap(({ conversation }) => conversation.told)
    .join('\n');

const isTold = (stage: Stage, name: string, what: string): Promise<unknown> =>
  until(`the model to hear "${what}" in ${name}`, () => told(stage, name).includes(what), PATIENCE);

/** One session builds; the other is denied with the reason, and allowed afterwards. */
const builds = async (stage: Stage, one: ClaudeSession, two: ClaudeSession): Promise<void> => {
  one.say(stage.standIn.scripts.write('first', [bash('while [ ! -e go ]; do sleep 0.1; done')]));
  await stage.some('the first build', seen => seen.command.includes('[ ! -e go ]'));
  await two.play('second', bash('echo not-yet'));
  await isTold(stage, 'second', 'at work on this project');
  stage.write('work/go', '');
  await until('the first to finish', () => stage.standIn.scripts.finished('first'), PATIENCE);
  await one.atPrompt();
  await two.play('third', bash('echo now-it-runs'));
  await isTold(stage, 'third', 'now-it-runs');
};

/** A marker of its own blocks a stop with its reason, and lets go after three times. */
const postflight = async (stage: Stage, one: ClaudeSession): Promise<void> => {
  const marker = stage.path('work/specs/1_x/.postflight-pending');
  const reason = 'finish the paperwork';
  await one.play(
    'mark',
    bash(`mkdir -p specs/1_x; printf '{"reason":"${reason}"}' > specs/1_x/.postflight-pending`),
  );
  await until('the stop to be let go', () => log(stage).includes('allow: '), PATIENCE);
  const third = /block 3: reaptop: .*From the repository: \\"finish the paperwork\\"/.test(log(stage));
  if (!third || log(stage).includes('block 4')) throw new Error(`not blocked three times: ${log(stage)}`);
  if (existsSync(marker)) throw new Error('the marker is still there');
  await one.atPrompt();
};

/** A server with a worker of its own that nobody ends: no mark in it tells whose it is. */
const WORKER = 'sleep 3105';
const SERVER = { command: 'sh', args: ['-c', `env -i ${WORKER} & exec mcp-server-memory`] };

/** The servers end before SessionEnd is told, and the worker is PID 1's by then: only lineage proves it. */
const ended = async (stage: Stage, claude: ClaudeSession): Promise<void> => {
  const { id, pid, seen } = claude;
  const worker = claude.below().find(({ command }) => command === WORKER);
  if (worker === undefined) throw new Error(`no ${WORKER} below ${pid}`);
  claude.say('/exit');
  await stage.gone(seen);
  const lineage = stage.path(STATE, `lineage.d/${id}.jsonl`);
  await until('the heartbeat to end', () => !existsSync(stage.path(STATE, `sessions/${id}.json`)), PATIENCE);
  if (!existsSync(lineage)) throw new Error(`no lineage of ${id}: ${log(stage)}`);
  const recorded = readFileSync(lineage, 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as { pid: number; start: string; agent: { pid: number } });
  if (!recorded.some(line => line.pid === worker.pid && line.agent.pid === pid))
    throw new Error(`${worker.pid} of ${pid} is not in ${JSON.stringify(recorded)}`);
  stage.is(worker, { what: 'left by a session that ended', verdict: 'leak', kind: 'other', owner: 'dead' });
};

const hooks: Scene = {
  name: 'claude-hooks',
  about:
    'two sessions with our hooks: beats, one build at a time, a stop blocked and let go, the lineage of an ended one',
  needs: NEEDS,
  play: async stage => {
    stage.write('.config/reaptop/config.json', { hooks: { buildTools: ['Bash'] } });
    claudeHome(stage, { memory: SERVER });
    install(stage);
    const one = await ClaudeSession.open(stage, 'one');
    const two = await ClaudeSession.open(stage, 'two');
    await builds(stage, one, two);
    const beat = JSON.parse(readFileSync(stage.path(STATE, `sessions/${two.id}.json`), 'utf8')) as {
      agent: { pid: number };
      diagnosticCalls: number;
      skippedDiagnostics: number;
    };
    if (beat.agent.pid !== two.pid || beat.diagnosticCalls !== 1 || beat.skippedDiagnostics !== 1)
      throw new Error(`the beat of ${two.pid} says ${JSON.stringify(beat)}`);
    await postflight(stage, one);
    await ended(stage, two);
    await until(
      'every hook to be gone',
      () => everybody().every(({ command }) => !/cli\.js'? hook /.test(command)),
      PATIENCE,
    );
    await stage.settled();
  },
};

export const HOOKS = [hooks];
