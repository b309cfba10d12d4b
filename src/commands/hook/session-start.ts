import { spawn } from 'node:child_process';
import { quoted, tell } from '../../judge/hooks/answers.ts';
import { formatBytes } from '../../model/format.ts';
import { type HookAnswer, NO_ANSWER } from '../../model/hook.ts';
import { leanProject } from '../../observe/files/project.ts';
import { type Cleared, clearAll } from './clearing.ts';
import type { HookContext } from './context.ts';

/** Loaded with the rest of what clears, which hooks at every step do without. */
export { clearZombies } from './clearing.ts';

/** Younger ones may still be somebody's. */
const LEAST_AGE_SECONDS = 60;

/** Warms the build in the background; it outlives us, and locks the project meanwhile. */
const startPrebuild = ({ config, input, log, env }: HookContext): void => {
  const project = config.prebuild ? leanProject(input.cwd) : null;
  const script = process.argv[1];
  if (project === null || script === undefined) return;
  const child = spawn(process.execPath, [script, 'prebuild'], {
    cwd: project,
    env,
    detached: true,
    stdio: 'ignore',
  });
  child.on('error', error => log(`prebuild could not be started: ${error.message}`));
  child.unref();
  log(`prebuild started in ${project}`);
};

/** What a session is told: only what was cleared, and what is critical. */
const news = ({ snapshot, ended }: Cleared): string | null => {
  const freed = ended.reduce((sum, { freed: bytes }) => sum + bytes, 0);
  const critical = snapshot.findings
    .filter(({ severity, id }) => severity === 'critical' && id !== 'leak')
    .slice(0, 3);
  const said = [
    ...(ended.length === 0
      ? []
      : [
          `cleared ${ended.length} leaked ${ended.length === 1 ? 'process' : 'processes'} of ended sessions (${formatBytes(freed)})`,
        ]),
    // A title names processes and paths as they call themselves.
    ...critical.map(({ id, title }) => `critical: ${id}, ${quoted(title)}`),
  ];
  return said.length === 0 ? null : `reaptop: ${said.join('; ')}.`;
};

/** SessionStart of a new session. `minimumAgeSeconds`: tests cannot wait for a minute. */
export const sessionStart = async (
  context: HookContext,
  minimumAgeSeconds = LEAST_AGE_SECONDS,
): Promise<HookAnswer> => {
  startPrebuild(context);
  const cleared = await clearAll(context, minimumAgeSeconds);
  const said = news(cleared);
  if (said === null) return NO_ANSWER;
  context.log(said);
  return tell('SessionStart', said);
};
