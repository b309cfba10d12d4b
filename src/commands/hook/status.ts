import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readSession, SESSIONS } from '../../act/hooks/session-state.ts';
import { hooksIn, sharedCommand, Unfit } from '../../act/hooks/settings-edit.ts';
import { readSettings } from '../../act/hooks/settings-file.ts';
import { formatAge, plural } from '../../model/format.ts';
import { HOOK_EVENTS } from '../../model/hook.ts';
import { visible } from '../../model/text.ts';
import { isRunning } from '../../observe/procfs/kin.ts';
import { stateDirectory } from '../../observe/state/state-directory.ts';
import { type InstallGround, SCOPES, settingsPath } from './install.ts';
import { isReaptop, ownHookCommand } from './wanted.ts';

const MOST_SESSIONS = 20;

const settingsLine = (path: string, { script, env }: InstallGround): string => {
  const command = ownHookCommand(script, env);
  try {
    const found = hooksIn(readSettings(path) ?? '', isReaptop(script));
    if (found.length === 0) return 'no hooks of reaptop';
    const events = new Set(found.map(({ event }) => event));
    const missing = HOOK_EVENTS.filter(event => !events.has(event));
    const others = found.filter(
      ({ command: theirs, event }) => theirs !== command(event) && theirs !== sharedCommand(event),
    );
    return [
      missing.length === 0
        ? `all ${HOOK_EVENTS.length} hooks`
        : `${plural(found.length, 'hook')} (not ${missing.join(', ')})`,
      ...(others.length === 0
        ? []
        : [`${others.length} start another program: ${visible(others[0]!.command)}`]),
    ].join('; ');
  } catch (error) {
    if (error instanceof Unfit) return `cannot be read: ${error.message}`;
    throw error;
  }
};

const sessionLines = (directory: string | null, now: number): readonly string[] => {
  if (directory === null) return [];
  let names: string[];
  try {
    names = readdirSync(join(directory, SESSIONS)).filter(name => name.endsWith('.json'));
  } catch {
    return []; // no session has had hooks yet
  }
  return names
    .slice(0, 1000)
    .map(name => readSession(directory, name.slice(0, -'.json'.length)))
    .filter(session => session !== null)
    .filter(({ agent }) => agent === null || isRunning(agent) !== false)
    .sort((a, b) => b.beatAt - a.beatAt)
    .slice(0, MOST_SESSIONS)
    .map(
      session =>
        `  ${visible(session.session)}  ${formatAge(Math.max(0, (now - session.beatAt) / 1000))} ago  ${visible(session.operation)}  ${visible(session.cwd)}`,
    );
};

/** Where hooks are installed, and which sessions beat. */
export const hookStatus = (ground: InstallGround): number => {
  const { env, out } = ground;
  const places = SCOPES.map(scope => settingsPath(ground, scope));
  for (const path of new Set(places)) out.write(`${visible(path)}: ${settingsLine(path, ground)}\n`);
  const sessions = sessionLines(stateDirectory(env), Date.now());
  out.write(
    sessions.length === 0
      ? 'No running session has sent a heartbeat.\n'
      : `Running sessions, the latest heartbeat first:\n${sessions.join('\n')}\n`,
  );
  return 0;
};
