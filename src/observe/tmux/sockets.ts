import { lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

/** The directory in which tmux keeps a user's named sockets. */
export const socketDirectory = (uid: number, env: NodeJS.ProcessEnv): string =>
  join(env.TMUX_TMPDIR || '/tmp', `tmux-${uid}`);

const namedSockets = (directory: string, uid: number): string[] => {
  try {
    // /tmp is everybody's: a directory of this name that another user made is not ours to talk to.
    const owner = lstatSync(directory);
    if (!owner.isDirectory() || owner.uid !== uid) return [];
    return readdirSync(directory).map(name => join(directory, name));
  } catch {
    return []; // no tmux server was ever started here
  }
};

/** The real path of a socket that belongs to the user; null for anything else. */
const ownSocket = (path: string, uid: number): string | null => {
  try {
    const real = realpathSync(path);
    const stat = statSync(real);
    return stat.isSocket() && stat.uid === uid ? real : null;
  } catch {
    return null; // vanished, or a link that leads nowhere
  }
};

/** `$TMUX` is `<socket>,<server pid>,<session>`; a path may itself hold commas. */
export const socketOfTmuxVariable = (value: string): string | null =>
  /^(\/.*),\d+,\d+$/s.exec(value)?.[1] ?? (isAbsolute(value) && !value.includes(',') ? value : null);

/** Every socket of the user worth asking: the named ones and those that environments speak of, each once. */
export const findSockets = (uid: number, env: NodeJS.ProcessEnv, extra: readonly string[]): string[] => {
  // Those that somebody speaks of first: they are in use, and there may be time for no others.
  const candidates = [...[...extra].sort(), ...namedSockets(socketDirectory(uid, env), uid).sort()];
  const found = new Set<string>();
  for (const path of candidates) {
    const socket = ownSocket(path, uid);
    if (socket !== null) found.add(socket);
  }
  return [...found];
};
