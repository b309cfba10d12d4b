import { type ChildProcess, spawn } from 'node:child_process';
import { dirname } from 'node:path';

/** Who plays the scenes: nobody of this machine. */
export const USER = { name: 'ada', uid: 4711, home: '/home/ada' } as const;

/** Where things lie inside: the same on every machine, and readable to the invented user. */
export const INSIDE = { repository: '/srv/reaptop', agents: '/srv/agents', node: '/srv/node' } as const;

/** What PID 1 is called. PPID 1 means "orphaned" below the first, and is normal below the second. */
export const FIRST_PROCESS = { host: 'systemd', container: 'entrypoint' } as const;
export type FirstProcess = keyof typeof FIRST_PROCESS;

/**
 * Runs as PID 1 of new pid, mount, network and ipc namespaces. Homes, temporary files, terminals and sockets of the
 * machine are out of sight, the only network is loopback. PID 1 is a shell, because a shell reaps what is orphaned.
 */
const ENTER = `
set -eu
repository=$1 agents=$2 node=$3 first=$4; shift 4
mount --make-rprivate /
ip link set lo up
mount -t tmpfs -o mode=755 stage /srv
mkdir /srv/reaptop /srv/agents /srv/node /srv/bin
mount --bind "$repository" /srv/reaptop
mount --bind "$agents" /srv/agents
mount --bind "$node" /srv/node
for at in /srv/reaptop /srv/agents /srv/node; do mount -o remount,bind,ro $at; done
cp /bin/dash "/srv/bin/$first"
{ cat /etc/passwd; echo '${USER.name}:x:${USER.uid}:${USER.uid}::${USER.home}:/bin/bash'; } > /srv/passwd
{ cat /etc/group; echo '${USER.name}:x:${USER.uid}:'; } > /srv/group
mount --bind /srv/passwd /etc/passwd
mount --bind /srv/group /etc/group
mount -t tmpfs -o mode=755 home /home
mount -t tmpfs -o mode=755 run /run
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 terminals /dev/pts
mount --bind /dev/pts/ptmx /dev/ptmx
mkdir -m 755 ${USER.home}; chown ${USER.uid}:${USER.uid} ${USER.home}
mount -t tmpfs -o mode=1777 tmp /tmp
cd ${USER.home}
exec "/srv/bin/$first" -c '
  setpriv --reuid=${USER.uid} --regid=${USER.uid} --clear-groups \\
    env -i HOME=${USER.home} USER=${USER.name} LOGNAME=${USER.name} SHELL=/bin/bash LANG=C.UTF-8 \\
    TERM=xterm-256color PATH=/srv/agents/node_modules/.bin:/srv/node/bin:/usr/local/bin:/usr/bin:/bin \\
    "$@"
  exit $?' "$first" "$@"
`;

export interface Enter {
  readonly repository: string;
  readonly cache: string;
  readonly first: FirstProcess;
  /** Run inside by the invented user. */
  readonly command: readonly string[];
  readonly timeoutMs: number;
}

export interface Left {
  readonly stdout: string;
  readonly code: number | null;
  readonly timedOut: boolean;
}

/** Ending `unshare` ends PID 1 of the namespace, and the kernel everything else in it. */
export const enter = ({ repository, cache, first, command, timeoutMs }: Enter): Promise<Left> =>
  new Promise((resolve, reject) => {
    const child: ChildProcess = spawn(
      'unshare',
      [
        ...['--pid', '--fork', '--mount', '--net', '--ipc', '--mount-proc', '--kill-child'],
        ...['sh', '-c', ENTER, 'sh', repository, cache, dirname(dirname(process.execPath))],
        ...[FIRST_PROCESS[first], ...command],
      ],
      { stdio: ['ignore', 'pipe', 'inherit'], env: { PATH: process.env.PATH ?? '' } },
    );
    let stdout = '';
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      child.kill('SIGKILL');
    }, timeoutMs);
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.on('error', reject);
    child.on('close', code => {
      clearTimeout(timer);
      resolve({ stdout, code, timedOut });
    });
  });
