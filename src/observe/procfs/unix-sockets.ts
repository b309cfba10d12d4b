import { type CommandResult, runCommand } from '../run-command.ts';

/** A unix socket as the kernel lists it. */
export interface UnixSocket {
  /** The path or abstract name that it is bound to; null: none, as both ends of a socket pair. */
  readonly path: string | null;
  readonly listens: boolean;
  /** The inode of its other end; `0`: that is closed, or it was never connected. */
  readonly peer: string;
  readonly connected: boolean;
}

/** The unix sockets of our network namespace by inode; null: listed twice, so one of the two is forged. */
export type UnixTable = ReadonlyMap<string, UnixSocket | null>;

/** `u_str ESTAB 0 0 /run/x.sock 4711 * 4712`: names may hold anything, so the numbers are read from the end. */
const ROW = /^u_\w+\s+(\S+)\s+\d+\s+\d+\s+(.+) (\d+)\s+(?:\S.*)?\s(\d+)\s*$/;

/** Null when a line is not a row: a socket's name may hold newlines, and what follows them could be anything. */
export const parseUnixSockets = (text: string): UnixTable | null => {
  const table = new Map<string, UnixSocket | null>();
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const row = ROW.exec(line);
    if (row === null) return null;
    const [, state = '', path = '', inode = '', peer = ''] = row;
    const socket = {
      path: path === '*' ? null : path,
      listens: state === 'LISTEN',
      peer,
      connected: state === 'ESTAB',
    };
    table.set(inode, table.has(inode) ? null : socket);
  }
  return table;
};

/** iproute2 is in /usr/sbin or /sbin on many systems, which an ordinary user's PATH may lack. */
const PATH = `${process.env.PATH ?? ''}:/usr/sbin:/sbin:/usr/bin:/bin`;
const TIMEOUT_MS = 1000;
/** 20,000 sockets. A listing that is cut off would call sockets absent that are not. */
const MOST_OUTPUT = 4 * 1024 * 1024;

/** What `ss` says (without -p, which walks every process); null where it is missing, fails or is too long. */
export const readUnixSockets = async (
  run: (command: string, args: readonly string[]) => Promise<CommandResult> = (command, args) =>
    runCommand(command, args, {
      timeoutMs: TIMEOUT_MS,
      mostOutput: MOST_OUTPUT,
      env: { PATH, LC_ALL: 'C' },
    }),
): Promise<UnixTable | null> => {
  const answer = await run('ss', ['-xaH']);
  if (answer.status !== 'done' || answer.code !== 0 || answer.stdout.length >= MOST_OUTPUT) return null;
  return parseUnixSockets(answer.stdout);
};
