import type { TmuxPane } from '../../model/observation.ts';
import { redactWord } from '../../model/redact.ts';
import { visible } from '../../model/text.ts';

/**
 * One line per pane. Colons separate because tmux never allows one in a session name and
 * no other field before the title can hold one; the title comes last and may hold anything.
 * A tab would do too, but in a C locale tmux prints every control character as `_`.
 */
const FIELDS = [
  'session_id',
  'window_id',
  'window_index',
  'pane_id',
  'pane_pid',
  'pane_tty',
  'pane_dead',
  'window_activity',
  'session_attached',
  'pid',
  'session_group',
  'session_name',
  'pane_title',
] as const;
type Field = (typeof FIELDS)[number];

export const PANE_FORMAT = FIELDS.map(name => `#{${name}}`).join(':');

export interface PaneListing {
  readonly serverPid: number | null;
  readonly panes: readonly TmuxPane[];
}

const splitLine = (line: string): Record<Field, string> | null => {
  const parts = line.split(':');
  if (parts.length < FIELDS.length) return null;
  const title = parts.slice(FIELDS.length - 1).join(':');
  const values = [...parts.slice(0, FIELDS.length - 1), title];
  return Object.fromEntries(FIELDS.map((name, i) => [name, values[i] ?? ''])) as Record<Field, string>;
};

const count = (text: string): number | null => (/^\d{1,15}$/.test(text) ? Number(text) : null);

const toPane = (socket: string, f: Record<Field, string>): TmuxPane | null => {
  const pid = count(f.pane_pid);
  if (pid === null || !f.pane_id.startsWith('%') || !f.session_id.startsWith('$')) return null;
  return {
    socket,
    sessionId: f.session_id,
    session: visible(redactWord(f.session_name)),
    windowId: f.window_id,
    window: count(f.window_index) ?? 0,
    pane: f.pane_id,
    pid,
    // As the process table names it: without /dev/.
    tty: f.pane_tty === '' ? null : f.pane_tty.replace(/^\/dev\//, ''),
    dead: f.pane_dead === '1',
    title: visible(redactWord(f.pane_title)),
    activity: count(f.window_activity),
    attached: (count(f.session_attached) ?? 0) > 0,
  };
};

/**
 * Grouped and linked sessions list a pane once each: it is kept once, under the session it was made in
 * (which gave the group its name), and counts as attached when any of them is.
 */
export const parsePanes = (socket: string, output: string): PaneListing => {
  const panes = new Map<string, TmuxPane>();
  let serverPid: number | null = null;
  for (const line of output.split('\n')) {
    const fields = splitLine(line);
    const pane = fields === null ? null : toPane(socket, fields);
    if (fields === null || pane === null) continue;
    serverPid ??= count(fields.pid);
    const known = panes.get(pane.pane);
    const kept = known === undefined || fields.session_group === fields.session_name ? pane : known;
    panes.set(pane.pane, { ...kept, attached: pane.attached || known?.attached === true });
  }
  return { serverPid, panes: [...panes.values()] };
};
