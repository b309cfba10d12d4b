import { isSessionless } from '../../agents/index.ts';
import type { ProcessFacts } from '../../model/process.ts';
import type { JudgedProcess, Owner } from '../../model/snapshot.ts';
import { DEMO_CLOCK, DEMO_UID, type DemoProcess, demoStart } from './machine.ts';

/** The pids below this belong to the system in the demo. */
const FIRST_USER_PID = 1000;
const MIB = 1024 ** 2;

/** Busy processes breathe a little, so that a running demo lives. */
const factsOf = (p: DemoProcess, elapsed: number, wobble: number): ProcessFacts => ({
  pid: p.pid,
  start: demoStart(p),
  ppid: p.ppid,
  pgid: p.pid,
  sid: p.pid,
  uid: p.pid < FIRST_USER_PID ? 0 : DEMO_UID,
  tty: p.tty,
  state: p.state,
  kernelThread: false,
  unreadable: false,
  born: DEMO_CLOCK - p.age,
  cpuSeconds: p.age / 50,
  cpu: p.cpu === 0 ? 0 : Math.max(1, p.cpu + (p.cpu < 90 ? wobble : 0)),
  rss: Math.round((p.mib + ((p.grows ?? 0) * elapsed) / 60) * MIB),
  comm: p.name.slice(0, 15),
  argv: p.state === 'Z' ? null : p.command.split(' '),
  exe: null,
  env: {},
  details: {
    cwd: p.cwd,
    swap: p.swap * MIB,
    cgroup: null,
    stdin: 'pipe',
    lostTerminal: false,
    listening: null,
  },
});

/** What a process inherits from those above it. */
interface Above {
  readonly owner: Owner | null;
  /** The leaked or suspect root it hangs below, or itself. */
  readonly fallen: DemoProcess | null;
}

const lookUp = (p: DemoProcess, byPid: ReadonlyMap<number, DemoProcess>): Above => {
  let owner = p.owner ?? null;
  let fallen: DemoProcess | null = null;
  for (let up: DemoProcess | undefined = p; up; up = byPid.get(up.ppid)) {
    if (up !== p && up.kind === 'agent')
      owner ??= { pid: up.pid, start: demoStart(up), sessionId: null, how: 'ancestor', alive: true };
    if (up.verdict === 'leak' || up.verdict === 'suspect') fallen ??= up;
    if (up.owner) owner ??= up.owner;
  }
  return { owner, fallen };
};

const reasons = (p: DemoProcess, { owner, fallen }: Above): readonly string[] => {
  if (p.why) return p.why;
  if (fallen) return [`below ${fallen.name} ${fallen.pid}, ${fallen.why?.[0] ?? fallen.verdict}`];
  return owner?.alive ? [`its agent ${owner.pid} is running`] : ['in a tmux pane'];
};

/** One process of the demo as a judged one, `elapsed` seconds after the fixed moment. */
export const judgedDemo = (
  p: DemoProcess,
  byPid: ReadonlyMap<number, DemoProcess>,
  elapsed: number,
  wobble: number,
): JudgedProcess => {
  const above = lookUp(p, byPid);
  const related = p.pid >= FIRST_USER_PID;
  return {
    session: null,
    facts: factsOf(p, elapsed, wobble),
    seen: {
      kind: p.kind,
      agent: p.agent,
      family: p.agent,
      known: 'list',
      name: p.name,
      role: p.role ?? null,
      wraps: p.kind === 'wrapper' ? 'mcp' : null,
      transport: p.kind === 'mcp' ? 'stdio' : null,
      saysStdio: false,
      sessionIds: [],
      forkedFrom: [],
      anchor: null,
      adoptsOrphans: p.pid === 1,
      mentionsMcp: p.name.includes('mcp'),
    },
    kind: p.kind,
    agent: p.agent,
    isSession: p.kind === 'agent' && !isSessionless(p.role ?? null),
    name: p.name,
    command: p.command,
    ageSeconds: p.age + elapsed,
    depth: 0,
    owner: above.owner,
    tmux: p.tmux,
    verdict: p.verdict ?? above.fallen?.verdict ?? (related ? 'live' : 'unknown'),
    why: related ? reasons(p, above) : ['not related to an agent'],
    protection: p.protection ?? null,
    protectedBecause: p.protection ? (p.why?.[0] ?? null) : null,
    zombies: [...byPid.values()].filter(child => child.ppid === p.pid && child.state === 'Z').length,
    related,
  };
};
