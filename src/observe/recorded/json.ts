import { isJsonObject, type JsonObject, numberAt, objectAt, textAt } from '../../model/json.ts';
import type { HostFacts, TmuxPane, TmuxServer } from '../../model/observation.ts';
import type { ENV_NAMES, NamedEnv } from '../../model/process.ts';
import { quoteArgs, visible } from '../../model/text.ts';
import { parseDate, parseElapsed, parseSpokenAge } from '../../model/time.ts';
import { judgedThen } from './judged-json.ts';
import { emptyRow, isPid, MAX_PID, type RecordedRow, type TableSurroundings } from './table.ts';

export const SCHEMA = 1;
/** Pids that an earlier reading invented are above the kernel's limit. */
const MOST = 2 ** 31 - 1;

const pidAt = (fields: JsonObject, name: string): number | null => {
  const pid = numberAt(fields, name);
  return pid !== null && isPid(pid, MOST) ? pid : null;
};

const bytesAt = (fields: JsonObject, name: string): number | null => {
  const bytes = numberAt(fields, name);
  return bytes !== null && bytes >= 0 && Number.isSafeInteger(bytes) ? bytes : null;
};

/** The owner that environ gave is the one verdict input whose source the JSON does not carry itself. */
const envOf = (process: JsonObject): NamedEnv | null => {
  const owner = objectAt(process, 'owner');
  if (owner === null || owner.how !== 'environ') return null;
  const sessionId = textAt(owner, 'sessionId');
  const pid = pidAt(owner, 'pid');
  const env: Partial<Record<(typeof ENV_NAMES)[number], string>> = { CLAUDECODE: '1' };
  if (sessionId !== null) env.CLAUDE_CODE_SESSION_ID = visible(sessionId);
  if (pid !== null) env.CLAUDE_PID = String(pid);
  return env;
};

/** More than any column or sentence shows. */
const MOST_PORTS = 32;

const isPort = (port: unknown): port is number =>
  Number.isInteger(port) && Number(port) > 0 && Number(port) < 65_536;

const rowOf = (process: JsonObject): RecordedRow | null => {
  const pid = pidAt(process, 'pid');
  if (pid === null || pid === 0) return null;
  const state = textAt(process, 'state');
  const start = textAt(process, 'start');
  const command = textAt(process, 'command');
  const isZombie = state === 'Z' || state === 'X';
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
    // A zombie has no command, or its kernel name in brackets.
    comm: isZombie && command?.startsWith('[') !== true ? textAt(process, 'name') : null,
    command,
    cwd: textAt(process, 'cwd'),
    ports: Array.isArray(process.ports) ? process.ports.filter(isPort).slice(0, MOST_PORTS) : [],
    env: envOf(process),
  };
};

/** The topmost process of each pane is the pane's own; the JSON names the pane on every process below it. */
const panesOf = (processes: readonly JsonObject[]): TmuxServer[] => {
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

const hostOf = (document: JsonObject): Partial<HostFacts> => {
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

const momentOf = (document: JsonObject): number | null => {
  const value = document.takenAt;
  const at = typeof value === 'string' ? parseDate(value) : value;
  return typeof at === 'number' && Number.isFinite(at) && Math.abs(at) < 8e15 ? at : null;
};

/** Reads what `reaptop --once --json` wrote. */
export const readOwnJson = (
  document: JsonObject,
): { readonly rows: readonly RecordedRow[]; readonly around: TableSurroundings } => {
  const processes = (Array.isArray(document.processes) ? document.processes : []).filter(isJsonObject);
  const rows = processes.map(rowOf).filter(row => row !== null);
  const lost = (document.processes as unknown[]).length - rows.length;
  return {
    rows,
    around: {
      takenAt: momentOf(document),
      host: hostOf(document),
      tmux: panesOf(processes),
      judged: judgedThen(document),
      warnings: lost === 0 ? [] : [`${lost} of the recorded processes had no usable PID and were left out.`],
    },
  };
};

const commandOf = (fields: JsonObject): string | null => {
  for (const name of ['argv', 'args', 'command', 'cmd']) {
    const value = fields[name];
    if (Array.isArray(value) && value.every(word => typeof word === 'string'))
      return quoteArgs(value, Number.POSITIVE_INFINITY);
  }
  return textAt(fields, 'command', 'cmd', 'args', 'commandLine');
};

/** KiB like ps, unless the key says otherwise. */
const rssOf = (fields: JsonObject): number | null => {
  const bytes = numberAt(fields, 'rss_bytes', 'rssBytes');
  if (bytes !== null) return bytes;
  const kib = numberAt(fields, 'rss_kb', 'rss', 'rssKb');
  return kib === null ? null : kib * 1024;
};

/** `etime` as ps prints it, in people's words, or a start time where the report had only that. */
const readAge = (row: RecordedRow, text: string | null): void => {
  if (text === null) return;
  const start = /^l?start\s+(.+)$/i.exec(text);
  if (start !== null) row.startText = start[1]!.replace(/\s+/g, ' ');
  else row.ageSeconds = parseElapsed(text.trim()) ?? parseSpokenAge(text);
};

const looseRow = (fields: JsonObject): RecordedRow | 'out-of-range' => {
  const pid = numberAt(fields, 'pid', 'PID');
  const ppid = numberAt(fields, 'ppid', 'PPID');
  const rss = rssOf(fields);
  if (pid !== null && (!isPid(pid) || pid === 0)) return 'out-of-range';
  if ((ppid !== null && !isPid(ppid)) || (rss !== null && (rss < 0 || rss > Number.MAX_SAFE_INTEGER)))
    return 'out-of-range';
  const row: RecordedRow = {
    ...emptyRow(),
    pid,
    ppid,
    pgid: numberAt(fields, 'pgid', 'pgrp'),
    sid: numberAt(fields, 'sid', 'sess', 'session'),
    uid: numberAt(fields, 'uid'),
    tty: textAt(fields, 'tty', 'tt', 'tty_name'),
    stat: textAt(fields, 'stat', 'state', 's'),
    rss: rss === null ? null : Math.round(rss),
    comm: textAt(fields, 'comm', 'ucomm', 'name'),
    command: commandOf(fields),
    cwd: textAt(fields, 'cwd'),
    startText: textAt(fields, 'lstart', 'start', 'started', 'stime'),
  };
  readAge(row, textAt(fields, 'etime', 'etimes', 'elapsed', 'ageSeconds'));
  return row;
};

const platformOf = (items: readonly JsonObject[]): string | null => {
  const words = new Set(items.map(item => /^[a-z]+/.exec(textAt(item, 'platform') ?? '')?.[0] ?? ''));
  words.delete('');
  const [only] = words;
  return words.size !== 1 ? null : only === 'macos' ? 'darwin' : only!;
};

/** Objects with ps-like keys: what people paste into reports and scripts write. Null means the source did not say. */
export const readLooseJson = (
  items: readonly unknown[],
  skippedLines: number,
): { readonly rows: readonly RecordedRow[]; readonly around: TableSurroundings } => {
  const objects = items.filter(isJsonObject);
  const read = objects.map(looseRow);
  const rows = read
    .filter(row => row !== 'out-of-range')
    .filter(row => row.pid !== null || row.command !== null);
  const lost = items.length - rows.length + skippedLines;
  const unnumbered = rows.filter(row => row.pid === null).length;
  const sources = new Set(objects.map(item => textAt(item, 'source')));
  sources.delete(null);
  const platform = platformOf(objects);
  return {
    rows,
    around: {
      takenAt: null,
      host: platform === null ? {} : { platform },
      tmux: [],
      warnings: [
        ...(lost === 0 ? [] : [`${lost} of the recorded rows could not be read and were left out.`]),
        ...(unnumbered === 0
          ? []
          : [
              `${unnumbered} of the recorded rows had no PID: they are shown with made-up ones above ${MAX_PID}.`,
            ]),
        ...(sources.size < 2
          ? []
          : [
              `The rows come from ${sources.size} sources and are read as one machine: parents may be mixed up.`,
            ]),
      ],
    },
  };
};
