import { Box } from 'ink';
import type { ReactNode } from 'react';
import type { LogLine } from '../../engine/live-state.ts';
import { type RememberedSession, wayBackName } from '../../model/asleep.ts';
import type { Finding } from '../../model/finding.ts';
import { beatOwner, beatText, type Heartbeat } from '../../model/heartbeat.ts';
import { beatTone } from '../../model/levels.ts';
import { remedyInKeys } from '../../model/plan-text.ts';
import { cells, homely, wrap } from '../../model/text.ts';
import { SEVERITY_TONES } from '../../model/ui-settings.ts';
import { formatAge, formatBytes } from '../../model/units.ts';
import type { MouseHandlers } from '../keys/input.ts';
import { type SelectEntry, useMouse } from '../keys/use-mouse.ts';
import { findingToFix, type Screen } from '../screen.ts';
import { PANELS, type PanelId } from '../state.ts';
import { windowTop } from '../tree/rows.ts';
import { Frame } from '../ui/frame.tsx';
import { Line, Lines } from '../ui/line.tsx';
import { clickable, onSelected, type Runs, run, runsToWidth, runsWidth, toWidth } from '../ui/runs.ts';
import type { ThemeTone } from '../ui/theme.ts';
import { scrollText } from '../ui/title-rule.tsx';
import { useScreen } from '../ui/use-screen.ts';
import { entriesOf, entryUnderCursor, isPanelShown, panelLength } from './panel-entries.ts';

/** Findings, heartbeats or the log: below the tree, or on a screen too low for both in its place. */
export const Panel = ({ rows }: { readonly rows: number }): ReactNode => {
  const screen = useScreen();
  const { layout, view } = screen;
  const wheel = useMouse(WHEEL);
  const width = layout.columns - (layout.framed ? 2 : 0);
  const { shown, more } = entriesInView(screen, rows, width);
  const entries = (
    <Box flexDirection="column" flexShrink={0} height={rows}>
      <Lines of={shown} width={width} onEntry={select} />
    </Box>
  );
  return (
    <Box ref={wheel} flexDirection="column" flexShrink={0} aria-label={panelSentences(screen)}>
      {layout.framed ? (
        <Frame
          width={layout.columns}
          rows={rows}
          active={view.focus === view.panel}
          title={tabs(screen)}
          belowRight={more}
        >
          {entries}
        </Frame>
      ) : (
        <>
          <Line runs={tabRule(screen)} width={layout.columns} />
          {entries}
        </>
      )}
    </Box>
  );
};

/** A panel with the keys moves its cursor, another only what is in view. */
const WHEEL: MouseHandlers = {
  wheel: (store, by) => {
    const { view, layout } = store.screen;
    const length = panelLength(view.panel, store.screen);
    if (view.focus === view.panel) {
      const cursor = Math.max(0, Math.min(length - 1, view.panelCursor + by));
      store.dispatch({ type: 'panel-cursor', cursor });
    } else
      store.dispatch({
        type: 'panel-scroll',
        to: Math.min(Math.max(0, length - layout.panelRows), view.panelTop + by),
      });
  },
};

const select: SelectEntry = (store, entry, { double }, type) => {
  const { view } = store;
  if (view.focus !== view.panel) store.dispatch({ type: 'focus', focus: view.panel });
  store.dispatch({ type: 'panel-cursor', cursor: entry });
  if (double) type('enter');
};

const LOG_TONES = { plain: 'plain', good: 'good', warn: 'warn', bad: 'bad' } satisfies Record<
  LogLine['tone'],
  ThemeTone
>;

/** From here on a finding's reason stands beside its title; from MEDIUM on, its remedy. */
const WIDE = 150;
const MEDIUM = 90;

/** `14:03`: of the day in the log's own time zone; the audit log has the days. */
export const clockTime = (at: number): string => new Date(at).toTimeString().slice(0, 5);

const findingLine = (f: Finding, { layout, glyphs }: Screen): Runs => {
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

/** Its text, and the end of its path: the file's name and its task's directory matter more than the root. */
const heartbeatLine = (b: Heartbeat, { layout, glyphs }: Screen): Runs => {
  // A transcript has no text of its own: its owner says more than its path.
  const told = beatText(b) || `${b.format}, ${beatOwner(b)}`;
  const room = layout.columns - 24 - cells(told);
  const path = shortPath(b.path, room, glyphs.ellipsis);
  return [
    run(toWidth(b.state, 10), beatTone(b)),
    run(' '),
    run(toWidth(formatAge(b.ageSeconds), 6, 'right')),
    run('  '),
    run(told),
    ...(room > 12 ? [run(`  ${path}`, 'faint')] : []),
  ];
};

/** Whole parts from its end: the file's name and its task's directory matter more than the root. */
const shortPath = (path: string, room: number, ellipsis: string): string => {
  const parts = homely(path).split('/');
  for (let from = 0; from < parts.length; from += 1) {
    const text = from === 0 ? parts.join('/') : [ellipsis, ...parts.slice(from)].join('/');
    if (cells(text) <= room) return text;
  }
  return parts.at(-1) ?? path;
};

const logLine = (l: LogLine): Runs => [
  run(clockTime(l.at), 'faint'),
  run('  '),
  run(l.text, LOG_TONES[l.tone]),
];

/** `asleep  2h03m  380M  proofs “fix the lemma”  claude --resume …`. */
const asleepLine = (session: RememberedSession, { snapshot }: Screen): Runs => [
  run(toWidth(session.state, 7), session.state === 'lost' ? 'warn' : 'faint'),
  run(toWidth(formatAge(Math.max(0, (snapshot.takenAt - session.at) / 1000)), 7, 'right')),
  run(toWidth(formatBytes(session.bytes), 7, 'right')),
  run('  '),
  run(wayBackName(session), 'strong'),
  run(`  enter: wake  ${session.resume}`, 'faint'),
];

const lostLine = (lost: Finding | Heartbeat): Runs =>
  'title' in lost
    ? [run(toWidth('resolved', 8), 'good'), run(' '), run(lost.title, 'faint')]
    : [run(toWidth('gone', 10), 'faint'), run(' '.repeat(9)), run(lost.path, 'faint')];

/** What the cursor was on, where it was, though it is no longer there. */
const withLost = (lines: readonly Runs[], { view }: Screen): readonly Runs[] => {
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
  asleep: screen => entriesOf('asleep', screen).map(session => asleepLine(session, screen)),
  log: screen => entriesOf('log', screen).map(logLine),
} satisfies Record<PanelId, (screen: Screen) => readonly Runs[]>;

const EMPTY = {
  findings: ({ snapshot }) =>
    snapshot.totals.leaks > 0 ? 'Leaks seen once; the next refresh confirms them.' : 'Nothing looks wrong.',
  heartbeats: () => 'No heartbeat files.',
  asleep: () => 'No session is asleep or lost.',
  log: () => 'Nothing has been done yet.',
} satisfies Record<PanelId, (screen: Screen) => string>;

/** The whole path, and what can be done about it. */
const unfoldedBeat = (beat: Heartbeat, screen: Screen): readonly Runs[] => {
  const finding = findingToFix(screen);
  const remedy = finding === null ? [] : [`${finding.title} ${screen.glyphs.arrow} ${remedyInKeys(finding)}`];
  return [homely(beat.path), `${beatOwner(beat)}`, ...remedy]
    .flatMap(text => wrap(text, screen.layout.columns - 22))
    .map(part => [run(' '.repeat(19)), run(part, 'faint')]);
};

/** What the row of the finding under the cursor has no room for goes below it: why, and what to do. */
const unfolded = (screen: Screen): readonly Runs[] => {
  const { view, layout, glyphs } = screen;
  const beat = entryUnderCursor('heartbeats', screen, view);
  if (beat) return unfoldedBeat(beat, screen);
  const finding = entryUnderCursor('findings', screen, view);
  if (!finding) return [];
  const whole = runsWidth(findingLine(finding, screen)) <= layout.columns - 2;
  if (whole && layout.columns >= WIDE) return [];
  const remedy = whole && layout.columns >= MEDIUM ? '' : ` ${glyphs.arrow} ${remedyInKeys(finding)}`;
  const text = `${finding.why}${remedy}`;
  return wrap(text, layout.columns - 12).map(part => [run(' '.repeat(9)), run(part, 'faint')]);
};

/** The rows of the panel that are in view: the entry under the cursor with all that is known of it. */
const entriesInView = (
  screen: Screen,
  rows: number,
  width: number,
): { readonly shown: readonly Runs[]; readonly more: Runs } => {
  const { view, glyphs } = screen;
  const focused = view.focus === view.panel;
  const unfolds = unfolded(screen);
  const lost = view.panelLost !== null;
  const content = CONTENT[view.panel](screen).flatMap((line, i): readonly Runs[] => {
    const body = runsToWidth(line, width - 2, glyphs.ellipsis);
    const entry = { entry: lost && i > view.panelCursor ? i - 1 : i };
    if (!focused || i !== view.panelCursor) return [[clickable(run('  '), entry), ...body]];
    return [[clickable(run(`${glyphs.cursor} `, 'cursor'), entry), ...onSelected(body)], ...unfolds];
  });
  if (content.length === 0) content.push([run('  '), run(EMPTY[view.panel](screen), 'faint')]);
  const below = windowTop(view.panelCursor + unfolds.length, content.length, rows);
  // It may be longer than the panel: then its end is cut, never its title.
  const top = focused
    ? Math.min(view.panelCursor, below)
    : Math.max(0, Math.min(view.panelTop, content.length - rows));
  const told = scrollText({ from: top, room: rows, length: content.length }, glyphs);
  return {
    shown: content.slice(top, top + rows),
    more: told === '' ? [] : [run(` ${told} `, 'faint')],
  };
};

const TITLES = {
  findings: 'Findings',
  heartbeats: 'Heartbeats',
  asleep: 'Asleep',
  log: 'Log',
} satisfies Record<PanelId, string>;

/** `12 of 48`, with arrows when there is more above or below. */
export const positionText = ({ rows, view, layout, glyphs }: Screen): string => {
  if (rows.length === 0) return '';
  const up = view.top > 0 ? glyphs.up : ' ';
  const down = view.top + layout.treeRows < rows.length ? glyphs.down : ' ';
  return ` ${view.selectedIndex + 1} of ${rows.length} ${up}${down} `;
};

/** The titles of the panels, the one that is shown first among them. */
const tabs = (screen: Screen): Runs =>
  PANELS.filter(panel => isPanelShown(panel, screen)).flatMap(panel => {
    const text = ` ${TITLES[panel]} ${panelLength(panel, screen)} `;
    const tone = screen.view.focus === panel ? 'frame' : panel === screen.view.panel ? 'strong' : 'faint';
    return [clickable(run(text, tone), { panel }), run(screen.glyphs.rule, 'rule')];
  });

/** Without frames: a rule between the tree and the panel, with the titles and where in the tree we are. */
const tabRule = (screen: Screen): Runs => {
  const { layout, glyphs } = screen;
  const left: Runs = [run(glyphs.rule, 'rule'), ...tabs(screen)];
  const right: Runs = [run(positionText(screen), 'faint'), run(glyphs.rule, 'rule')];
  const gap = layout.columns - runsWidth(left) - runsWidth(right);
  return gap < 0 ? left : [...left, run(glyphs.rule.repeat(gap), 'rule'), ...right];
};

const SENTENCES = {
  findings: (f: Finding) => `${f.severity}: ${f.title}: ${f.why}. To do: ${remedyInKeys(f)}`,
  heartbeats: (b: Heartbeat) =>
    `${b.state}, ${formatAge(b.ageSeconds)} old: ${beatText(b) || `${b.format}, ${beatOwner(b)}`}, ${b.path}`,
  asleep: (s: RememberedSession) => `${s.state}: ${wayBackName(s)}. Enter wakes it: ${s.resume}`,
  log: (l: LogLine) => `${clockTime(l.at)}, ${l.text}`,
};

const SPOKEN_TITLES = {
  findings: 'Finding',
  heartbeats: 'Heartbeat',
  asleep: 'Session',
  log: 'Entry of the log',
};

/** Which entry of a panel the keys are on. */
const entrySentence = (panel: PanelId, screen: Screen): string => {
  const { view } = screen;
  const among = entriesOf(panel, screen);
  const under = among[view.panelCursor];
  const told =
    view.panelLost !== null
      ? 'it is over'
      : under === undefined
        ? 'none'
        : // The table's type guarantees that the entry is one of this panel; the compiler cannot relate the two unions.
          (SENTENCES[panel] as (entry: unknown) => string)(under);
  return `${SPOKEN_TITLES[panel]} ${among.length === 0 ? 0 : view.panelCursor + 1} of ${among.length}: ${told}`;
};

/** The panel for a screen reader: the entry with the keys, and the findings unless another panel has them. */
const panelSentences = (screen: Screen): string => {
  const { view, snapshot } = screen;
  const findings = snapshot.findings.map(f => `${f.severity}: ${f.title}`);
  if (view.focus === 'tree') return findings.join('\n') || 'No findings.';
  const entry = entrySentence(view.focus, screen);
  return [entry, ...(view.focus === 'findings' ? findings : [])].join('\n');
};
