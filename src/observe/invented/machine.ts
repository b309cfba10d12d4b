import type { NamedEnv, ProcessDetails, ProcessFacts } from '../../model/process.ts';
import { splitWords } from '../../model/shell.ts';

/**
 * The processes of an invented machine, rich enough for every verdict and shape of tree. What they are and how they
 * are judged stands nowhere here: the product finds out.
 * pid | parent | MiB | swap MiB | CPU % | age | state | tty | cwd | command
 * `~` is the home directory of an invented user.
 */
const TABLE = `
1    | 0    | 12   |     |     | 30d00h | S |       |                         | /sbin/init
412  | 1    | 9    |     |     | 30d00h | S |       |                         | sshd: /usr/sbin/sshd -D
640  | 1    | 81   |     | 1   | 30d00h | S |       |                         | /usr/bin/dockerd -H fd://
702  | 1    | 64   |     |     | 30d00h | S |       |                         | postgres -D /var/lib/postgresql/16/main
711  | 702  | 17   |     |     | 30d00h | S |       |                         | postgres: checkpointer
712  | 702  | 11   |     |     | 30d00h | S |       |                         | postgres: walwriter
1080 | 1    | 190  |     | 1   | 2d00h  | S |       |                         | ~/.vscode-server/cli/servers/Stable-8c3/server/node ~/.vscode-server/cli/servers/Stable-8c3/server/out/server-main.js
1201 | 1    | 9    |     |     | 6d00h  | S |       |                         | tmux new -s main
5200 | 1    | 6    |     |     | 3h00m  | S |       |                         | tmux -L agents new -d -s agent_688
1210 | 1201 | 7    |     |     | 6d00h  | S | pts/0 |                         | -zsh
1342 | 1210 | 412  |     | 14  | 5h12m  | R | pts/0 | ~/src/webshop           | claude --continue
1360 | 1342 | 71   |     |     | 5h11m  | S |       | ~/src/webshop           | npm exec @playwright/mcp@latest
1388 | 1360 | 118  |     |     | 5h11m  | S |       | ~/src/webshop           | node ~/.npm/_npx/9833/node_modules/.bin/playwright-mcp
1402 | 1342 | 204  |     |     | 5h11m  | S |       | ~/src/webshop           | python ~/.cache/uv/bin/chroma-mcp --client-type persistent
2860 | 1342 | 4    |     |     | 38s    | S |       | ~/src/webshop           | zsh -c 'npm test -- --run checkout'
2871 | 2860 | 186  |     | 92  | 37s    | R |       | ~/src/webshop           | node ~/src/webshop/node_modules/.bin/vitest --run checkout
1215 | 1201 | 7    |     |     | 6d00h  | S | pts/1 |                         | -zsh
1501 | 1215 | 538  |     |     | 1d03h  | S | pts/1 | ~/proofs/sphere-packing | claude --resume 0d9f2c7e-3a1b-4c55-8d7e-1f2a3b4c5d6e
1518 | 1501 | 29   |     |     | 1d03h  | S |       | ~/proofs/sphere-packing | uvx lean-lsp-mcp
1522 | 1518 | 164  |     |     | 1d03h  | S |       | ~/proofs/sphere-packing | python ~/.cache/uv/bin/lean-lsp-mcp
1530 | 1522 | 48   |     |     | 1d02h  | S |       | ~/proofs/sphere-packing | lake serve --
1541 | 1530 | 93   |     |     | 1d02h  | S |       | ~/proofs/sphere-packing | lean --server
1550 | 1541 | 1260 |     | 99  | 51m    | R |       | ~/proofs/sphere-packing | lean --worker file://~/proofs/sphere-packing/Sphere/Density.lean
1551 | 1541 | 884  |     |     | 2h00m  | S |       | ~/proofs/sphere-packing | lean --worker file://~/proofs/sphere-packing/Sphere/Bounds.lean
1601 | 1522 | 0    |     |     | 4h00m  | Z |       |                         | lake.orig
1602 | 1522 | 0    |     |     | 3h00m  | Z |       |                         | lake.orig
1603 | 1522 | 0    |     |     | 52m    | Z |       |                         | lake.orig
1220 | 1201 | 7    |     |     | 6d00h  | S | pts/2 |                         | -zsh
1700 | 1220 | 61   |     |     | 3h40m  | S | pts/2 | ~/src/prices-api        | node /usr/local/bin/codex
1712 | 1700 | 143  |     | 3   | 3h40m  | S | pts/2 | ~/src/prices-api        | /usr/local/lib/node_modules/@openai/codex/vendor/x86_64-unknown-linux-musl/codex/codex
1730 | 1712 | 38   |     |     | 3h40m  | S |       |                         | github-mcp-server stdio
2095 | 1201 | 5    |     |     | 2d00h  | S | pts/5 |                         | -bash
2101 | 2095 | 377  |     |     | 9h00m  | S | pts/5 | ~/proofs/mathlib-fork   | claude
2140 | 2101 | 112  |     |     | 22m    | S |       | ~/proofs/mathlib-fork   | lake build Mathlib.Topology
2151 | 2140 | 702  |     | 100 | 48s    | R |       | ~/proofs/mathlib-fork   | lean -R . -o .lake/build/lib/Mathlib/Topology/Order.olean Mathlib/Topology/Order.lean
2152 | 2140 | 655  |     | 98  | 31s    | R |       | ~/proofs/mathlib-fork   | lean -R . -o .lake/build/lib/Mathlib/Topology/Bases.olean Mathlib/Topology/Bases.lean
2190 | 2101 | 96   |     |     | 6m     | D |       | ~/proofs/mathlib-fork   | lake build
5210 | 5200 | 4    |     |     | 3h00m  | S | pts/8 |                         | bash run-agent.sh 688
5230 | 5210 | 455  |     |     | 3h00m  | S | pts/8 | ~/proofs/task-688       | claude -p --output-format stream-json --session-id 7f3e2d1c-0b9a-4857-a6f5-e4d3c2b1a098
5262 | 5230 | 936  |     |     | 2h58m  | S |       | ~/proofs/task-688       | python ~/.cache/uv/bin/lean-lsp-mcp
5271 | 5262 | 0    |     |     | 1h10m  | Z |       |                         | lake.orig
5272 | 5262 | 0    |     |     | 41m    | Z |       |                         | lake.orig
5273 | 5262 | 0    |     |     | 13m    | Z |       |                         | lake.orig
5310 | 5200 | 4    |     |     | 47m    | S | pts/9 |                         | bash run-agent.sh 701
5330 | 5310 | 398  |     | 7   | 47m    | S | pts/9 | ~/proofs/task-701       | claude -p --output-format stream-json --session-id 19b8c7d6-e5f4-4a3b-92c1-d0e9f8a7b6c5
3310 | 1    | 8    | 61  |     | 2d04h  | S |       |                         | npm exec @upstash/context7-mcp
3331 | 3310 | 12   | 97  |     | 2d04h  | S |       |                         | node ~/.npm/_npx/51ab/node_modules/.bin/context7-mcp
3402 | 1    | 131  | 22  |     | 19h00m | S |       | ~/proofs/sphere-packing | python ~/.cache/uv/bin/lean-lsp-mcp
3440 | 3402 | 44   |     |     | 19h00m | S |       | ~/proofs/sphere-packing | lake serve --
3450 | 3440 | 90   |     |     | 19h00m | S |       | ~/proofs/sphere-packing | lean --server
3460 | 3450 | 1490 | 610 |     | 18h00m | S |       | ~/proofs/sphere-packing | lean --worker file://~/proofs/sphere-packing/Sphere/Density.lean
3471 | 3402 | 0    |     |     | 17h00m | Z |       |                         | lake.orig
3472 | 3402 | 0    |     |     | 17h00m | Z |       |                         | lake.orig
3505 | 1    | 96   |     |     | 11h00m | S |       |                         | chrome-devtools-mcp
3520 | 3505 | 241  |     | 4   | 11h00m | S |       |                         | chrome --headless=new --remote-debugging-pipe --user-data-dir=/tmp/devtools-profile
3533 | 3520 | 187  |     |     | 11h00m | S |       |                         | chrome --type=renderer
3701 | 1    | 233  |     |     | 7h00m  | S |       | ~/src/webshop           | node ~/src/webshop/node_modules/.bin/vite --port 5173
3755 | 1    | 301  |     |     | 6h00m  | S |       | ~/notes                 | claude -p summarise-nightly
3790 | 3755 | 54   |     |     | 6h00m  | S |       |                         | node ~/.npm/_npx/77c1/node_modules/.bin/mcp-server-memory
4001 | 1080 | 366  |     | 2   | 4h00m  | S |       | ~/src/atlas-docs        | ~/.vscode-server/extensions/anthropic.claude-code/resources/native-binary/claude --output-format stream-json
4020 | 4001 | 101  |     |     | 4h00m  | S |       |                         | node ~/.npm/_npx/9833/node_modules/.bin/playwright-mcp
4101 | 1    | 88   |     |     | 6d00h  | S |       |                         | bun worker-service.cjs --daemon
4150 | 1    | 77   |     |     | 6d00h  | S |       |                         | claude daemon
1225 | 1201 | 7    |     |     | 6d00h  | S | pts/3 |                         | -zsh
9999 | 1225 | 78   |     | 1   | 1h10m  | R | pts/3 | ~                       | node /usr/local/bin/reaptop
`;

/** A fixed moment, so that screens are the same in every run. */
export const INVENTED_NOW = Date.UTC(2026, 0, 15, 9, 30);
/** Seconds since this machine was started. */
export const INVENTED_CLOCK = 30 * 86_400;
export const INVENTED_UID = 1000;
export const INVENTED_HOME = '/home/ada';
export const INVENTED_SELF = 9999;

/** The pids below this belong to the system. */
const FIRST_USER_PID = 1000;
const MIB = 1024 ** 2;

/** One row of the table. */
export interface InventedProcess {
  readonly pid: number;
  readonly ppid: number;
  readonly mib: number;
  readonly swap: number;
  /** Percent of a core while it works. */
  readonly cpu: number;
  /** Seconds at the fixed moment. */
  readonly age: number;
  readonly state: string;
  readonly tty: string | null;
  readonly cwd: string | null;
  readonly argv: readonly string[];
}

/** The sessions whose leftovers run on. */
const ENDED = '5b1e9c40-77aa-4d0e-9a53-2c4f6f1d0a11';
const startedBy = (sessionId: string): NamedEnv => ({ CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: sessionId });

const ENVIRONMENTS: Readonly<Record<number, NamedEnv>> = {
  3310: startedBy(ENDED),
  3331: startedBy(ENDED),
  3505: startedBy(ENDED),
  3520: startedBy(ENDED),
  3533: startedBy(ENDED),
  3701: startedBy(ENDED),
  4001: { CLAUDE_CODE_ENTRYPOINT: 'claude-vscode' },
};

/** TCP ports without clients. */
const LISTENING: Readonly<Record<number, readonly number[]>> = { 3701: [5173], 640: [2375] };

/** MiB a minute, for the one that grows while you watch. */
const GROWING: Readonly<Record<number, number>> = { 1550: 48 };

const COMMS: Readonly<Record<string, string>> = { '/sbin/init': 'systemd', tmux: 'tmux: server' };

/** The kernel's name of a process: what was executed, without its path. */
const commOf = (program: string): string =>
  COMMS[program] ??
  program
    .slice(program.lastIndexOf('/') + 1)
    .replace(/^-|:$/g, '')
    .slice(0, 15);

const atHome = (text: string): string => text.replaceAll('~', INVENTED_HOME);

const UNITS: Readonly<Record<string, number>> = { d: 86_400, h: 3600, m: 60, s: 1 };

/** `1d03h` in seconds. */
const secondsOf = (age: string): number =>
  [...age.matchAll(/(\d+)([dhms])/g)].reduce((sum, [, n, unit]) => sum + Number(n) * UNITS[unit!]!, 0);

const parseRow = (row: string): InventedProcess => {
  const cell = row.split('|').map(text => text.trim());
  const [pid, ppid, mib, swap, cpu, age, state, tty, cwd, command] = cell as [
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  return {
    pid: Number(pid),
    ppid: Number(ppid),
    mib: Number(mib),
    swap: Number(swap),
    cpu: Number(cpu),
    age: secondsOf(age),
    state,
    tty: tty === '' ? null : tty,
    cwd: cwd === '' ? null : atHome(cwd),
    argv: splitWords(atHome(command)),
  };
};

export const INVENTED_PROCESSES: readonly InventedProcess[] = TABLE.trim().split('\n').map(parseRow);

export const startOf = ({ age, pid }: InventedProcess): string =>
  String((INVENTED_CLOCK - age) * 100 + (pid % 100));

/** Memory in MiB, `elapsed` seconds after the fixed moment: growing for those that grow, breathing for those at work. */
const mibAt = (p: InventedProcess, elapsed: number): number => {
  const breath = p.cpu === 0 ? 0 : (((Math.floor(elapsed / 10) + p.pid) % 7) - 3) / 800;
  return (p.mib + ((GROWING[p.pid] ?? 0) * elapsed) / 60) * (1 + breath);
};

const detailsOf = (p: InventedProcess): ProcessDetails => {
  const ports = LISTENING[p.pid];
  return {
    cwd: p.cwd,
    swap: p.swap * MIB,
    cgroup: '',
    stdin: p.tty !== null ? 'tty' : p.ppid === 1 ? 'abandoned-socket' : 'pipe',
    lostTerminal: false,
    ignoresHangup: false,
    io: 0,
    listening: { ports: ports ?? [], clients: 0 },
    uses: [],
  };
};

export const bytesOf = (p: InventedProcess, elapsed: number): number => Math.round(mibAt(p, elapsed) * MIB);

/** What a backend would read of it at that moment; those at work are a little busier now, a little less then. */
export const inventedFacts = (p: InventedProcess, elapsed: number): ProcessFacts => {
  const wobble = p.cpu === 0 || p.cpu >= 90 ? 0 : ((Math.floor(elapsed) + p.pid) % 3) - 1;
  const [program = ''] = p.argv;
  return {
    pid: p.pid,
    start: startOf(p),
    ppid: p.ppid,
    pgid: p.pid,
    sid: p.pid,
    uid: p.pid < FIRST_USER_PID ? 0 : INVENTED_UID,
    tty: p.tty,
    state: p.state,
    kernelThread: false,
    unreadable: false,
    born: INVENTED_CLOCK - p.age,
    cpuSeconds: p.age / 50 + (p.cpu * elapsed) / 100,
    cpu: p.cpu === 0 ? 0 : Math.max(1, p.cpu + wobble),
    rss: bytesOf(p, elapsed),
    comm: commOf(program),
    argv: p.state === 'Z' ? null : p.argv,
    exe: null,
    env: ENVIRONMENTS[p.pid] ?? {},
    details: detailsOf(p),
    activity: { cpu: p.cpu, bytes: 0 },
  };
};
