import { join } from 'node:path';
import { homeDirectory } from '../engine/load-config.ts';
import { makeReport } from '../judge/report/report.ts';
import { callName } from '../model/call.ts';
import type { Episode, Glimpse, Report, ReportGroup } from '../model/report.ts';
import { cells, wrap } from '../model/text.ts';
import { formatAge, formatBytes, plural, spellBytes } from '../model/units.ts';
import { type DiskUse, diskUse } from '../observe/health.ts';
import { stateDirectory } from '../observe/state/state-directory.ts';
import { type Paint, painter } from '../output.ts';
import { readAuditHistory } from '../remember/audit-history.ts';
import { glimpseAt } from '../remember/recorder/glimpse-at.ts';
import { Recording } from '../remember/recorder/recording.ts';
import { type Glyphs, glyphsFor } from '../tui/ui/glyphs.ts';

export interface ReportOptions {
  readonly sinceMs: number;
  readonly by: ReportGroup;
  readonly json: boolean;
  readonly width: number;
  readonly color: boolean;
}

/** A moment each minute is enough for trends; guard records six. */
const STEP_MS = 60_000;

/** Every so often one, and each whose findings or leaks differ from those before: nothing that happened is passed over. */
const readGlimpses = (recording: Recording, from: number, to: number): readonly Glimpse[] => {
  const glimpses: Glimpse[] = [];
  let signature = '';
  for (const glimpse of recording.through(from, to, glimpseAt)) {
    const now = signatureOf(glimpse);
    const last = glimpses.at(-1);
    if (last !== undefined && now === signature && glimpse.at - last.at < STEP_MS) continue;
    signature = now;
    glimpses.push(glimpse);
  }
  return glimpses;
};

const signatureOf = ({ zombies, builds, agents, leaks, findings, results, hungCalls }: Glimpse): string =>
  [
    zombies,
    builds,
    ...[...agents, ...leaks].map(({ key }) => key),
    ...findings.map(({ id, about }) => `${id} ${about.join(' ')}`),
    ...results.map(({ key, result }) => `${key} ${result}`),
    ...hungCalls.map(({ id }) => id),
  ].join('\n');

/** Does it help? Adds up the audit log and the recorder, beside the seeds' targets. */
export const report = (
  { sinceMs, by, json, width, color }: ReportOptions,
  { env, out, now }: { env: NodeJS.ProcessEnv; out: { write(text: string): void }; now: number },
): number => {
  const directory = stateDirectory(env);
  const from = now - sinceMs;
  const nothing = { acts: [], bytes: 0, files: 0, skipped: 0 };
  const audit = directory === null ? nothing : readAuditHistory(directory, from);
  const recording = directory === null ? null : new Recording(directory);
  const glimpses = recording === null ? [] : readGlimpses(recording, from, now);
  const made = makeReport({ from, to: now, by, acts: audit.acts, glimpses, log: audit });
  const home = homeDirectory(env);
  const disk = home === null ? null : diskUse(join(home, '.claude-orchestrator', 'workspaces'));
  const warnings = [
    ...(audit.skipped === 0 ? [] : [`${plural(audit.skipped, 'line')} of the audit log could not be read.`]),
    ...(recording?.warnings() ?? []),
    ...(glimpses.length > 0
      ? []
      : ['Nothing was recorded in this time: only acts are counted (reaptop guard records).']),
  ];
  out.write(
    json
      ? `${JSON.stringify(reportJson(made, disk?.bytes ?? null, warnings), null, 2)}\n`
      : reportText(made, { width, color, glyphs: glyphsFor(env), by, disk, warnings }),
  );
  return 0;
};

const iso = (at: number): string => new Date(at).toISOString();

const reportJson = (made: Report, workspaceBytes: number | null, warnings: readonly string[]) => ({
  schema: 1,
  ...made,
  from: iso(made.from),
  to: iso(made.to),
  hangs: made.hangs.map(({ id, from, to, ended }) => ({
    id,
    from: iso(from),
    seconds: (to - from) / 1000,
    ended,
  })),
  workspaceBytes,
  warnings,
});

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

const MOST_TOOLS = 5;

/** `lean-lsp lean_goal 3 (longest 13m)`: which tool hangs. */
const toolWords = (tools: Report['hungTools']): string =>
  tools
    .slice(0, MOST_TOOLS)
    .map(one => `${callName(one)} ${one.calls} (longest ${formatAge(one.longestSeconds)})`)
    .join(', ');

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

const sleptLines = ({ slept }: Report, paint: Paint): string[] =>
  slept.sessions === 0
    ? []
    : [
        line(
          'asleep',
          `${plural(slept.sessions, 'session')} put to sleep, ${spellBytes(slept.freed)} of that`,
          paint,
        ),
      ];

/** One screen at 80 columns. */
const reportText = (report: Report, look: ReportLook): string => {
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
    ...sleptLines(report, paint),
    line(
      'zombies',
      `${report.zombiePeak} at most, ${report.zombiesPerSession.toFixed(1)} per session`,
      paint,
    ),
    line('hangs', hangWords(report.hangs), paint),
    ...(report.hungTools.length === 0 ? [] : [line('hung tools', toolWords(report.hungTools), paint)]),
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
