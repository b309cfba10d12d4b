import { runCommand } from '../run-command.ts';
import { toolEnvironment } from './ps.ts';

/** An open file of a process. */
export interface OpenFile {
  readonly pid: number;
  /** `cwd`, `txt`, or a number. */
  readonly fd: string;
  /** `unix`, `PIPE`, `IPv4`, `IPv6`, `CHR`, `REG`, `DIR`… */
  readonly type: string;
  /** Of sockets and pipes: its own address in the kernel, which a peer names. */
  readonly device: string;
  readonly name: string;
  /** `LISTEN`, `ESTABLISHED`… of a TCP socket. */
  readonly tcp: string | null;
}

/** lsof may hang for good on a dead file system: it is ended then, and what it would have told is unknown. */
const TIMEOUT_MS = 3000;
const MOST_OUTPUT = 32 * 1024 ** 2;

/** One field a line, the first character says which; `p` begins a process, `f` a file. */
export const parseLsof = (text: string): OpenFile[] => {
  const files: OpenFile[] = [];
  let pid = 0;
  let open: { -readonly [K in keyof OpenFile]: OpenFile[K] } | null = null;
  for (const line of text.split('\n')) {
    const value = line.slice(1);
    switch (line[0]) {
      case 'p':
        pid = Number(value);
        open = null;
        break;
      case 'f':
        open = { pid, fd: value, type: '', device: '', name: '', tcp: null };
        files.push(open);
        break;
      case 't':
        if (open !== null) open.type = value;
        break;
      case 'd':
        if (open !== null) open.device = value;
        break;
      case 'n':
        if (open !== null) open.name = value;
        break;
      case 'T':
        if (open !== null && value.startsWith('ST=')) open.tcp = value.slice(3);
        break;
    }
  }
  return files;
};

/** Numbers for hosts, ports and users, no warnings: names would be looked up, and that may take seconds. */
const PLAIN = ['-nPlw', '-F', 'pftdnT'];

/** What lsof prints; null: it did not answer. */
const printed = async (args: readonly string[]): Promise<string | null> => {
  const result = await runCommand('lsof', [...PLAIN, ...args], {
    timeoutMs: TIMEOUT_MS,
    env: toolEnvironment(),
    mostOutput: MOST_OUTPUT,
  });
  // It exits with 1 when one of the processes is gone: what it printed holds for the others.
  return result.status === 'done' && result.stdout.length < MOST_OUTPUT ? result.stdout : null;
};

const filesIn = (text: string | null): readonly OpenFile[] | null => (text === null ? null : parseLsof(text));

/** Directory, terminals, pipes and sockets of these processes; null: lsof did not answer. */
export const openFiles = async (pids: readonly number[]): Promise<readonly OpenFile[] | null> =>
  filesIn(await printed(['-a', '-p', pids.join(','), '-d', '^txt,^mem,^rtd']));

/** Every socket of this user's processes: who is at the other end of a connection. */
export const socketsOf = async (uid: number): Promise<readonly OpenFile[] | null> => {
  const [tcp, unix] = await Promise.all([
    printed(['-a', '-u', String(uid), '-iTCP']).then(filesIn),
    printed(['-a', '-u', String(uid), '-U']).then(filesIn),
  ]);
  return tcp === null || unix === null ? null : [...tcp, ...unix];
};
