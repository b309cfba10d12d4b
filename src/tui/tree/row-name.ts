import { beatAlarm } from '../../model/heartbeat.ts';
import type { Kind } from '../../model/kind.ts';
import { beatTone, type Group, sessionTone } from '../../model/levels.ts';
import { type AgentSession, LEAST_PROJECT, sessionBrief } from '../../model/snapshot.ts';
import { cells, cut } from '../../model/text.ts';
import { plural } from '../../model/units.ts';
import type { Screen } from '../screen.ts';
import type { Glyphs } from '../ui/glyphs.ts';
import { type Run, run, runsWidth, toWidth } from '../ui/runs.ts';
import type { ThemeTone } from '../ui/theme.ts';
import { matcher, type Row } from './row-order.ts';

const KIND_TONES = {
  agent: 'agent',
  mcp: 'server',
  'lean-lsp': 'server',
  lake: 'build',
  lean: 'build',
  tmux: 'plain',
  wrapper: 'faint',
  shell: 'faint',
  browser: 'plain',
  other: 'plain',
} satisfies Record<Kind, ThemeTone>;

/** Cells of a step of the trail. */
const STEP = 2;

/** What a name keeps for itself, however deep it hangs. */
const NAME_ROOM = 12;

/** Deep trees in a narrow pane keep the end of the trail: who the parent is matters more than the grandparents. */
const trailText = (trail: string, room: number, glyphs: Glyphs): string => {
  const limit = Math.max(1, Math.floor(room / STEP));
  const shown = trail.slice(-limit);
  let text = '';
  // Below a heading nothing is drawn.
  for (const step of shown)
    if (step !== 'H')
      text +=
        step === 'I'
          ? glyphs.through
          : step === ' '
            ? glyphs.gap
            : step === 'T'
              ? glyphs.branch
              : glyphs.lastBranch;
  // That it hangs somewhere is seen in one cell, too.
  return cells(text) <= room ? text : text.slice(0, 1);
};

/** In a side pane without room for what a process does, a silent agent still stands out. */
const isLoud = ({ beat, process }: Row): boolean =>
  (beat?.state === 'warn' || beat?.state === 'critical') && !isHung(process);

/** The call that it waits for says more than that it is silent. */
const isHung = (process: Row['process']): boolean =>
  process?.session?.calls?.some(call => call.hung === true) === true;

const alarmText = (row: Row): string => (isLoud(row) ? ` ${beatAlarm(row.beat!)}` : '');

/** While something is searched for, what matches stands out and nothing is hidden. */
const nameTone = (row: Row, { search }: Pick<Screen['view'], 'search'>): ThemeTone => {
  if (row.context || row.gone) return 'faint';
  const found = search !== '' && matcher(search)?.(row.process!);
  return found ? 'mark' : KIND_TONES[(row.runs ?? row.process!).kind];
};

/** ` proofs waits 12m`, whole. */
const sessionWidth = (row: Row): number => {
  const session = row.process?.session;
  if (!session) return 0;
  const brief = briefOf(row, session);
  return cells(session.project ?? '') + 1 + (brief === '' ? 0 : cells(brief) + 1);
};

/** What it is doing, unless an alarm beside it says more. */
const briefOf = (row: Row, session: AgentSession): string =>
  isLoud(row) && session.doing !== 'waiting' ? '' : sessionBrief(session);

/**
 * In a side pane an agent's row still says which session it is and what it is doing: ` proofs  waits 12m`. Where
 * there is little room the project is cut, not what it is doing.
 */
const sessionRuns = (row: Row, room: number, ellipsis: string): readonly Run[] => {
  const session = row.process?.session;
  if (!session) return [];
  const brief = briefOf(row, session);
  const project = session.project ?? '';
  const gap = cells(project) + cells(brief) + 3 <= room ? '  ' : ' ';
  const told = brief && `${gap}${brief}`;
  const left = room - cells(told) - 1;
  const shown =
    left < Math.min(LEAST_PROJECT, cells(project))
      ? ''
      : toWidth(project, Math.min(left, cells(project)), 'left', ellipsis);
  return [run(shown && ` ${shown}`), run(fitted(told, room, ellipsis), sessionTone(session))];
};

/** Fewer cells than this say nothing: `hung: l… 13m`. */
const LEAST_BRIEF = 12;

/** Since when it is so stays, the tool's name is cut: `hung: lean_dia… 13m`. */
const fitted = (brief: string, room: number, ellipsis: string): string => {
  if (cells(brief) <= room) return brief;
  if (room < LEAST_BRIEF) return '';
  const at = brief.lastIndexOf(' ');
  return `${cut(brief.slice(0, at), room - cells(brief.slice(at)), ellipsis)}${brief.slice(at)}`;
};

/** A heading with how many are below it; or what a dead session left, or servers that share a row. */
const groupRuns = (
  row: Row,
  group: Group,
  { fold, room, alone }: { readonly fold: string; readonly room: number; readonly alone: boolean },
  glyphs: Glyphs,
): readonly Run[] => {
  const trail = trailText(row.trail, room, glyphs);
  if (group.shown === 'row') {
    const zombies = row.zombies > 0 ? ` Z${glyphs.times}${row.zombies}` : '';
    const left = Math.max(1, room - cells(trail) - cells(fold) - cells(zombies));
    const title = toWidth(group.title, Math.min(cells(group.title), left), 'left', glyphs.ellipsis);
    const note = alone && group.tone !== 'server' ? `  ${group.note}` : '';
    return [
      run(trail, 'rule'),
      run(fold, 'faint'),
      run(title, group.tone),
      run(zombies, 'warn'),
      run(note, 'faint'),
    ];
  }
  const spelled = plural(row.count, 'process', 'processes');
  const fits = cells(fold) + cells(group.title) + 2 + spelled.length <= room;
  const count = run(`  ${fits ? spelled : row.count}`, 'faint');
  return [run(fold, group.tone), run(group.title, group.tone), count];
};

/** Where it hangs, what it is called, and what its name has to carry where there is no column for it. */
export const nameRuns = (
  row: Row,
  room: number,
  alone: boolean,
  { glyphs, view }: { readonly glyphs: Glyphs; readonly view: Pick<Screen['view'], 'search'> },
): readonly Run[] => {
  const fold = row.foldable ? `${row.folded ? glyphs.closed : glyphs.open} ` : '';
  if (row.group) return groupRuns(row, row.group, { fold, room, alone }, glyphs);
  const p = row.runs ?? row.process!;
  const zombies = row.zombies > 0 ? ` Z${glyphs.times}${row.zombies}` : '';
  const hidden = row.hidden > 0 ? ` ${glyphs.times}${row.hidden + 1}` : '';
  const alarm = alone ? alarmText(row) : '';
  const held = cells(fold) + cells(zombies) + cells(hidden) + cells(alarm);
  // Which session it is comes before how deep it hangs.
  const told = alone && p.session ? cells(p.name) + sessionWidth(row) + held : 0;
  const trail = trailText(row.trail, Math.min(Math.max(STEP, room - NAME_ROOM), room - told), glyphs);
  const free = room - cells(trail) - held;
  const session = alone ? sessionRuns(row, free - cells(p.name), glyphs.ellipsis) : [];
  const left = free - runsWidth(session);
  return [
    run(trail, 'rule'),
    run(fold, 'faint'),
    run(
      toWidth(p.name, Math.min(cells(p.name), Math.max(1, left)), 'left', glyphs.ellipsis),
      nameTone(row, view),
    ),
    ...session,
    run(alarm, row.beat ? beatTone(row.beat) : 'plain'),
    run(zombies, 'warn'),
    run(hidden, 'faint'),
  ];
};
