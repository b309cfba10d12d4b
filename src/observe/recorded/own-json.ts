import type { HostFacts, TmuxPane, TmuxServer } from '../../model/observation.ts';
import type { ENV_NAMES, NamedEnv } from '../../model/process.ts';
import { visible } from '../../model/text.ts';
import { parseDate } from '../../model/time.ts';
import { type Fields, isFields, numberAt, objectAt, textAt } from './fields.ts';
import { emptyRow, isPid, type Row } from './row.ts';
import type { Surroundings } from './table.ts';

export const SCHEMA = 1;
/** Pids that an earlier reading invented are above the kernel's limit. */
const MOST = 2 ** 31 - 1;

const pidAt = (fields: Fields, name: string): number | null => {
  const pid = numberAt(fields, name);
  return pid !== null && isPid(pid, MOST) ? pid : null;
};

const bytesAt = (fields: Fields, name: string): number | null => {
  const bytes = numberAt(fields, name);
  return bytes !== null && bytes >= 0 && Number.isSafeInteger(bytes) ? bytes : null;
};

/** The owner that environ gave is the one verdict input whose source the JSON does not carry itself. */
const envOf = (process: Fields): NamedEnv | null => {
  const owner = objectAt(process, 'owner');
  if (owner === null || owner.how !== 'environ') return null;
  const sessionId = textAt(owner, 'sessionId');
  const pid = pidAt(owner, 'pid');
  const env: Partial<Record<(typeof ENV_NAMES)[number], string>> = { CLAUDECODE: '1' };
  if (sessionId !== null) env.CLAUDE_CODE_SESSION_ID = visible(sessionId);
  if (pid !== null) env.CLAUDE_PID = String(pid);
  return env;
};

const whyOf = (process: Fields): string | null => {
  const why = Array.isArray(process.why) ? process.why.find(word => typeof word === 'string') : undefined;
  return why === undefined ? null : visible(why);
};

/** What was protected there stays so: it was told by what the JSON does not carry. */
const sparedOf = (process: Fields): string | null => {
  if (process.protection !== 'soft' && process.protection !== 'hard') return null;
  return whyOf(process) ?? 'it was protected where it was recorded';
};

/** What proved a leak there is not in the JSON; the sentences are. Nothing is ever signalled from a recording. */
const proofOf = (process: Fields): readonly string[] | null =>
  process.verdict === 'leak' ? [whyOf(process) ?? 'it was a leak where it was recorded'] : null;

const doubtOf = (process: Fields): string | null => {
  if (typeof process.verdict !== 'string' || process.verdict === 'leak') return null;
  return whyOf(process) ?? 'it was no leak where it was recorded';
};

const rowOf = (process: Fields): Row | null => {
  const pid = pidAt(process, 'pid');
  if (pid === null || pid === 0) return null;
  const state = textAt(process, 'state');
  const start = textAt(process, 'start');
  return {
    ...emptyRow(),
    pid,
    start: start === null ? '0' : visible(start).slice(0, 40),
    ppid: pidAt(process, 'ppid'),
    pgid: pidAt(process, 'pgid'),
    sid: pidAt(process, 'sid'),
    uid: numberAt(process, 'uid'),
    tty: textAt(process, 'tty'),
    stat: state,
    rss: bytesAt(process, 'rss'),
    swap: bytesAt(process, 'swap'),
    ageSeconds: numberAt(process, 'ageSeconds'),
    cpu: numberAt(process, 'cpu'),
    // A zombie has no command: its name is what comm was.
    comm: state === 'Z' || state === 'X' ? textAt(process, 'name') : null,
    command: textAt(process, 'command'),
    cwd: textAt(process, 'cwd'),
    env: envOf(process),
    spared: sparedOf(process),
    doubted: doubtOf(process),
    proven: proofOf(process),
  };
};

/** The topmost process of each pane is the pane's own; the JSON names the pane on every process below it. */
const panesOf = (processes: readonly Fields[]): TmuxServer[] => {
  const paneOf = new Map<number, string>();
  for (const p of processes) {
    const tmux = objectAt(p, 'tmux');
    const pid = pidAt(p, 'pid');
    if (tmux !== null && pid !== null) paneOf.set(pid, `${textAt(tmux, 'socket')}\0${textAt(tmux, 'pane')}`);
  }
  const servers = new Map<string, TmuxPane[]>();
  const done = new Set<string>();
  for (const p of processes) {
    const tmux = objectAt(p, 'tmux');
    const pid = pidAt(p, 'pid');
    const key = pid === null ? undefined : paneOf.get(pid);
    const parent = pidAt(p, 'ppid');
    if (tmux === null || pid === null || key === undefined || done.has(key)) continue;
    if (parent !== null && paneOf.get(parent) === key) continue;
    done.add(key);
    const socket = visible(textAt(tmux, 'socket') ?? '');
    const session = visible(textAt(tmux, 'session') ?? '');
    const panes = servers.get(socket) ?? [];
    servers.set(socket, panes);
    panes.push({
      socket,
      sessionId: session,
      session,
      windowId: '',
      window: 0,
      pane: visible(textAt(tmux, 'pane') ?? ''),
      pid,
      tty: textAt(p, 'tty'),
      dead: false,
      title: '',
      activity: null,
      attached: false,
    });
  }
  return [...servers].map(([socket, panes]) => ({ socket, pid: null, reachable: true, panes }));
};

const hostOf = (document: Fields): Partial<HostFacts> => {
  const host = objectAt(document, 'host');
  if (host === null) return {};
  return {
    name: visible(textAt(host, 'name') ?? 'recorded'),
    platform: visible(textAt(host, 'platform') ?? 'unknown'),
    ...(typeof host.container === 'boolean' ? { container: host.container } : {}),
    bootId: textAt(host, 'bootId'),
    memTotal: bytesAt(host, 'memTotal'),
    memAvailable: bytesAt(host, 'memAvailable'),
    swapUsed: bytesAt(host, 'swapUsed'),
  };
};

const momentOf = (document: Fields): number | null => {
  const value = document.takenAt;
  const at = typeof value === 'string' ? parseDate(value) : value;
  return typeof at === 'number' && Number.isFinite(at) && Math.abs(at) < 8e15 ? at : null;
};

/** Reads what `reaptop --once --json` wrote. */
export const readOwnJson = (
  document: Fields,
): { readonly rows: readonly Row[]; readonly around: Surroundings } => {
  const processes = (Array.isArray(document.processes) ? document.processes : []).filter(isFields);
  const rows = processes.map(rowOf).filter(row => row !== null);
  const lost = (document.processes as unknown[]).length - rows.length;
  return {
    rows,
    around: {
      takenAt: momentOf(document),
      host: hostOf(document),
      tmux: panesOf(processes),
      warnings: lost === 0 ? [] : [`${lost} of the recorded processes had no usable PID and were left out.`],
    },
  };
};
