import type { Kind, Role } from '../../model/kind.ts';
import type { Owner, Verdict } from '../../model/snapshot.ts';
import { DEMO_TABLE } from './table.ts';

/** A fixed moment, so that screens are the same in every run. */
export const DEMO_NOW = Date.UTC(2026, 0, 15, 9, 30);
export const DEMO_CLOCK = 30 * 86_400;
export const DEMO_UID = 1000;
export const DEMO_HOME = '/home/ada';

export const MAIN_SOCKET = '/tmp/tmux-1000/default';
export const AGENTS_SOCKET = '/tmp/tmux-1000/agents';

/** What the table does not say: how the process is judged. */
interface Note {
  readonly role?: Role;
  readonly verdict?: Verdict;
  readonly why?: readonly string[];
  readonly owner?: Owner;
  readonly protection?: 'hard' | 'soft';
  /** MiB per minute, for the one that grows while you watch. */
  readonly grows?: number;
}

export interface DemoProcess extends Note {
  readonly pid: number;
  readonly ppid: number;
  readonly kind: Kind;
  readonly agent: string | null;
  readonly name: string;
  readonly command: string;
  readonly mib: number;
  readonly swap: number;
  readonly cpu: number;
  readonly age: number;
  readonly state: string;
  readonly tty: string | null;
  readonly tmux: { readonly socket: string; readonly session: string; readonly pane: string } | null;
  readonly cwd: string | null;
}

const gone = (sessionId: string, how: Owner['how']): Owner => ({
  pid: null,
  start: null,
  sessionId,
  how,
  alive: false,
});
const ENDED = gone('5b1e9c40-77aa-4d0e-9a53-2c4f6f1d0a11', 'environ');
const ENDED_WHY = 'its session 5b1e9c40 ended; PID 1 adopted it';
const BURIED = gone('c0ffee12-0b57-4f6e-8f5d-90d2be11a7f3', 'lineage');
const ROOF = ['a tmux server: everything in its panes would go with it'];

const NOTES: Readonly<Record<number, Note>> = {
  1201: { role: 'tmux-server', verdict: 'protected', protection: 'hard', why: ROOF },
  5200: { role: 'tmux-server', verdict: 'protected', protection: 'hard', why: ROOF },
  2140: { role: 'lake-build' },
  2190: { role: 'lake-build' },
  5262: { grows: 14 },
  3310: { verdict: 'leak', why: [ENDED_WHY, 'a wrapper around an MCP server'], owner: ENDED },
  3402: { verdict: 'leak', why: ['seen below claude 2988, which is gone'], owner: BURIED },
  3505: { verdict: 'leak', why: [ENDED_WHY], owner: ENDED },
  3701: { verdict: 'suspect', why: ['session ended, but it listens on 5173: a dev server?'], owner: ENDED },
  3755: { verdict: 'suspect', why: ['an agent without a parent; nohup work looks the same'] },
  4001: { verdict: 'protected', protection: 'soft', why: ['hosted by VS Code, whose window is open'] },
  4101: {
    role: 'declared-daemon',
    verdict: 'protected',
    protection: 'soft',
    why: ['a daemon by its own word (--daemon)'],
  },
  4150: {
    role: 'claude-daemon',
    verdict: 'protected',
    protection: 'hard',
    why: ["Claude's own supervisor: it restarts what is killed"],
  },
};

const UNITS: Readonly<Record<string, number>> = { d: 86_400, h: 3600, m: 60, s: 1 };

/** `1d03h` in seconds. */
const seconds = (age: string): number =>
  [...age.matchAll(/(\d+)([dhms])/g)].reduce((sum, [, n, unit]) => sum + Number(n) * UNITS[unit!]!, 0);

const atHome = (text: string): string => text.replaceAll('~', DEMO_HOME);

const placeOf = (text: string): DemoProcess['tmux'] => {
  if (text === '') return null;
  const [session, pane] = text.split(' ') as [string, string];
  return { socket: session.startsWith('agent_') ? AGENTS_SOCKET : MAIN_SOCKET, session, pane };
};

const parseRow = (row: string): DemoProcess => {
  const cell = row.split('|').map(text => text.trim()) as [string, ...string[]];
  const [kind, agent] = cell[2]!.split(' ');
  const pid = Number(cell[0]);
  return {
    pid,
    ppid: Number(cell[1]),
    kind: kind as Kind,
    agent: agent ?? null,
    name: cell[3]!,
    mib: Number(cell[4]),
    swap: Number(cell[5]),
    cpu: Number(cell[6]),
    age: seconds(cell[7]!),
    state: cell[8]!,
    tty: cell[9] || null,
    tmux: placeOf(cell[10]!),
    cwd: cell[11] ? atHome(cell[11]) : null,
    command: atHome(cell[12]!),
    ...NOTES[pid],
  };
};

export const DEMO_PROCESSES: readonly DemoProcess[] = DEMO_TABLE.trim().split('\n').map(parseRow);

export const demoStart = (p: DemoProcess): string => String((DEMO_CLOCK - p.age) * 100 + (p.pid % 100));
