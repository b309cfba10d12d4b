import { formatAge, formatBytes, plural, spellBytes } from '../model/format.ts';
import type { Episode, Report, ReportGroup } from '../model/report.ts';
import { cells } from '../model/text.ts';
import type { DiskUse } from '../observe/health/disk-use.ts';
import type { Glyphs } from '../tui/look/glyphs.ts';
import { wrap } from '../words/wrap.ts';
import { type Paint, painter } from './paint.ts';

export interface ReportLook {
  readonly width: number;
  readonly color: boolean;
  readonly glyphs: Glyphs;
  readonly by: ReportGroup;
  readonly disk: DiskUse | null;
  readonly warnings: readonly string[];
}

const LABEL = 18;
const MOST_GROUPS = 8;

const line = (label: string, text: string, paint: Paint): string =>
  `${paint(label.padEnd(LABEL), 'strong')}${text}`;

/** One row of bars from zero to the highest; a blank where nothing was recorded. */
const curve = (values: readonly (number | null)[], { levels }: Glyphs): string => {
  const high = Math.max(0, ...values.map(value => value ?? 0));
  const top = levels.length - 1;
  return values
    .map(value => (value === null ? ' ' : levels[high === 0 ? 0 : Math.round((value / high) * top)]))
    .join('');
};

const hangWords = (hangs: readonly Episode[]): string => {
  if (hangs.length === 0) return 'none';
  const lasted = hangs.map(({ from, to }) => (to - from) / 1000).sort((a, b) => a - b);
  const by = (ended: Episode['ended']): number => hangs.filter(hang => hang.ended === ended).length;
  return `${hangs.length}, median ${formatAge(lasted[Math.floor((lasted.length - 1) / 2)] ?? 0)}, longest ${formatAge(lasted.at(-1) ?? 0)}; ended: ${by('act')} by an act, ${by('itself')} by themselves, ${by('open')} not`;
};

const bar = (value: number, most: number, room: number, glyphs: Glyphs): string =>
  (glyphs.levels.at(-1) ?? '#').repeat(most === 0 ? 0 : Math.round((value / most) * room));

const groupLines = (report: Report, { width, glyphs, by }: ReportLook, paint: Paint): string[] => {
  const shown = by === 'day' ? report.groups : report.groups.slice(0, MOST_GROUPS);
  const most = Math.max(0, ...shown.map(({ freed }) => freed));
  const name = Math.min(24, Math.max(10, ...shown.map(group => cells(group.name))));
  const head = `${by.padEnd(name)}  leaks cleared  freed agents peak`;
  const room = Math.max(0, width - cells(head) - 2);
  return [
    '',
    paint(head, 'faint'),
    ...shown.map(
      group =>
        `${group.name.slice(0, name).padEnd(name)}  ${String(group.leaks).padStart(5)} ${String(group.cleared).padStart(7)} ${formatBytes(group.freed).padStart(6)} ${formatBytes(group.memoryPeak).padStart(11)}  ${bar(group.freed, most, room, glyphs)}`,
    ),
    ...(shown.length < report.groups.length ? [`and ${report.groups.length - shown.length} more`] : []),
  ];
};

const MET = { true: ['met', 'good'], false: ['missed', 'bad'], null: ['unknown', 'faint'] } as const;

const targetLines = ({ targets }: Report, paint: Paint): string[] => [
  '',
  paint('targets', 'faint'),
  ...targets.map(({ what, wanted, measured, met }) => {
    const [word, tone] = MET[`${met}`];
    return `${paint(word.padEnd(8), tone)}${what}: ${measured} (wanted ${wanted})`;
  }),
];

const day = (at: number): string => new Date(at).toISOString().slice(0, 16).replace('T', ' ');

/** One screen at 80 columns. */
export const reportText = (report: Report, look: ReportLook): string => {
  const paint = painter(look.color);
  const { disk, glyphs } = look;
  const peak = Math.max(0, ...report.series.agents.map(value => value ?? 0));
  const lines = [
    paint(`reaptop report, ${day(report.from)} to ${day(report.to)} UTC`, 'strong'),
    ...look.warnings.map(warning => paint(`! ${warning}`, 'warn')),
    line(
      'leaks',
      `${report.leaksSeen} seen, ${report.leaksCleared} cleared, ${spellBytes(report.freed)} reclaimed`,
      paint,
    ),
    line(
      'zombies',
      `${report.zombiePeak} at most, ${report.zombiesPerSession.toFixed(1)} per session`,
      paint,
    ),
    line('hangs', hangWords(report.hangs), paint),
    line('false alarms', `${report.falseAlarms} cleared by themselves`, paint),
    line(
      'at once',
      `${plural(report.agentsAtOnce, 'agent')}, ${plural(report.buildsAtOnce, 'build')}, ${spellBytes(report.memoryPeak)} at most; ${plural(report.sessions, 'session')} in all`,
      paint,
    ),
    line(
      'tmux',
      report.tmuxSessions === null
        ? 'no data'
        : `${plural(report.tmuxSessions, 'session')} for ${plural(report.agentsNow ?? 0, 'running agent')}`,
      paint,
    ),
    line(
      'workspaces',
      disk === null ? 'none' : `${disk.cut ? 'at least ' : ''}${spellBytes(disk.bytes)} on disk`,
      paint,
    ),
    ...(report.moments === 0
      ? []
      : [
          line('agents', `${curve(report.series.agents, glyphs)} up to ${peak}`, paint),
          line('zombies', `${curve(report.series.zombies, glyphs)} up to ${report.zombiePeak}`, paint),
          line(
            'memory',
            `${curve(report.series.memory, glyphs)} up to ${formatBytes(report.memoryPeak)}`,
            paint,
          ),
        ]),
    ...groupLines(report, look, paint),
    ...targetLines(report, paint),
  ];
  return `${lines
    .flatMap(text => (look.color ? [text] : wrap(text, look.width, ' '.repeat(LABEL))))
    .map(text => text.trimEnd())
    .join('\n')}\n`;
};
