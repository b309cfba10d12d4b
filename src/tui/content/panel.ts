import type { LogLine } from '../../live/live.ts';
import type { Finding } from '../../model/finding.ts';
import { formatAge } from '../../model/format.ts';
import type { Heartbeat } from '../../model/heartbeat.ts';
import { cells } from '../../model/width.ts';
import { beatOwner, beatText } from '../../words/heartbeat.ts';
import { remedyInKeys } from '../../words/remedy.ts';
import { SEVERITY_TONES } from '../../words/tones.ts';
import { wrap } from '../../words/wrap.ts';
import type { Tone } from '../look/theme.ts';
import { beatTone } from '../view/activity.ts';
import { clickable } from '../view/clickable.ts';
import { inTone, type Line, lineToWidth, lineWidth, run, toWidth } from '../view/line.ts';
import { entriesOf, entryUnderCursor } from '../view/panel-entries.ts';
import { windowTop } from '../view/placement.ts';
import type { Screen } from '../view/screen.ts';
import type { PanelId } from '../view/state.ts';

const LOG_TONES = { plain: 'plain', good: 'good', warn: 'warn', bad: 'bad' } satisfies Record<
  LogLine['tone'],
  Tone
>;

/** From here on a finding's reason stands beside its title; from MEDIUM on, its remedy. */
const WIDE = 150;
const MEDIUM = 90;

/** `14:03`: of the day in the log's own time zone; days are told by the audit log. */
export const clockTime = (at: number): string => new Date(at).toTimeString().slice(0, 5);

const findingLine = (f: Finding, { layout, glyphs }: Screen): Line => {
  const why = layout.columns >= WIDE ? [run('  '), run(f.why, 'faint')] : [];
  const remedy = layout.columns >= MEDIUM ? [run(`  ${glyphs.arrow} ${remedyInKeys(f)}`, 'key')] : [];
  return [
    run(toWidth(f.severity, 8), SEVERITY_TONES[f.severity]),
    run(' '),
    run(f.title, f.severity === 'info' ? 'plain' : 'strong'),
    ...why,
    ...remedy,
  ];
};

/** What it says, and the end of its path: the file's name and its task's directory tell more than the root. */
const heartbeatLine = (b: Heartbeat, { layout, glyphs }: Screen): Line => {
  // A transcript says no more than that it is written to: then whose it is tells more than its path.
  const told = beatText(b) || `${b.format}, ${beatOwner(b)}`;
  const room = layout.columns - 24 - cells(told);
  const path = b.path.length <= room ? b.path : glyphs.ellipsis + b.path.slice(-Math.max(0, room - 1));
  return [
    run(toWidth(b.state, 10), beatTone(b)),
    run(' '),
    run(toWidth(formatAge(b.ageSeconds), 6, 'right')),
    run('  '),
    run(told),
    ...(room > 12 ? [run(`  ${path}`, 'faint')] : []),
  ];
};

const logLine = (l: LogLine): Line => [
  run(clockTime(l.at), 'faint'),
  run('  '),
  run(l.text, LOG_TONES[l.tone]),
];

const lostLine = (lost: Finding | Heartbeat): Line =>
  'title' in lost
    ? [run(toWidth('over', 8), 'good'), run(' '), run(lost.title, 'faint')]
    : [run(toWidth('gone', 10), 'faint'), run(' '.repeat(9)), run(lost.path, 'faint')];

/** What the cursor was on, where it was, though it is no longer there. */
const withLost = (lines: readonly Line[], { view }: Screen): readonly Line[] => {
  const { panelLost, panelCursor } = view;
  if (panelLost === null) return lines;
  return [...lines.slice(0, panelCursor), lostLine(panelLost), ...lines.slice(panelCursor)];
};

/** Every line of each panel. */
const CONTENT = {
  findings: screen => [
    ...withLost(
      screen.snapshot.findings.map(f => findingLine(f, screen)),
      screen,
    ),
    ...screen.snapshot.warnings.map(text => [run(toWidth('note', 8), 'warn'), run(' '), run(text)]),
  ],
  heartbeats: screen =>
    withLost(
      screen.snapshot.heartbeats.map(b => heartbeatLine(b, screen)),
      screen,
    ),
  log: screen => entriesOf('log', screen).map(logLine),
} satisfies Record<PanelId, (screen: Screen) => readonly Line[]>;

const EMPTY = {
  findings: ({ snapshot }) =>
    snapshot.totals.leaks > 0
      ? 'Leaks seen once so far; the next look confirms them.'
      : 'Nothing looks wrong.',
  heartbeats: () => 'No heartbeat files below the roots.',
  log: () => 'Nothing has been done yet.',
} satisfies Record<PanelId, (screen: Screen) => string>;

export const panelLength = (
  panel: PanelId,
  { snapshot, state }: Pick<Screen, 'snapshot' | 'state'>,
): number =>
  ({
    findings: snapshot.findings.length + snapshot.warnings.length,
    heartbeats: snapshot.heartbeats.length,
    log: state.log.length,
  })[panel];

/** What the row of the finding under the cursor has no room for is told below it: why, and what to do. */
const unfolded = (screen: Screen): readonly Line[] => {
  const { view, layout, glyphs } = screen;
  const finding = entryUnderCursor('findings', screen, view);
  if (!finding) return [];
  const whole = lineWidth(findingLine(finding, screen)) <= layout.columns - 2;
  if (whole && layout.columns >= WIDE) return [];
  const remedy = whole && layout.columns >= MEDIUM ? '' : ` ${glyphs.arrow} ${remedyInKeys(finding)}`;
  const text = `${finding.why}${remedy}`;
  return wrap(text, layout.columns - 12).map(part => [run(' '.repeat(9)), run(part, 'faint')]);
};

export const panelLines = (screen: Screen, rows: number): readonly Line[] => {
  const { view, layout, glyphs } = screen;
  const { columns } = layout;
  const focused = view.focus === view.panel;
  const more = unfolded(screen);
  const lost = view.panelLost !== null;
  const content = CONTENT[view.panel](screen).flatMap((line, i): readonly Line[] => {
    const body = lineToWidth(line, columns - 2, glyphs.ellipsis);
    const entry = { entry: lost && i > view.panelCursor ? i - 1 : i };
    if (!focused || i !== view.panelCursor) return [[clickable(run('  '), entry), ...body]];
    return [[clickable(run(`${glyphs.cursor} `, 'title'), entry), ...inTone(body, 'selected')], ...more];
  });
  if (content.length === 0) content.push([run('  '), run(EMPTY[view.panel](screen), 'faint')]);
  const below = windowTop(view.panelCursor + more.length, content.length, rows);
  // What it tells may be longer than the panel: then its end is cut, never its title.
  const top = focused
    ? Math.min(view.panelCursor, below)
    : Math.max(0, Math.min(view.panelTop, content.length - rows));
  return Array.from({ length: rows }, (_, i) =>
    lineToWidth(content[top + i] ?? [], columns, glyphs.ellipsis),
  );
};
