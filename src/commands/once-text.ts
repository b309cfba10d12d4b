import { ripenessOf } from '../judge/plan/ripe.ts';
import type { Finding } from '../model/finding.ts';
import { formatAge, formatBytes, plural } from '../model/format.ts';
import type { Heartbeat } from '../model/heartbeat.ts';
import { keyOf } from '../model/identity.ts';
import { CLEAN_AGE_MINUTES } from '../model/plan.ts';
import { isZombie, memoryOf } from '../model/process.ts';
import type { JudgedProcess, Snapshot } from '../model/snapshot.ts';
import { cells, cut } from '../model/text.ts';
import { leakedElsewhere, leakedHere } from '../words/closing.ts';
import { beatAbout, beatOwner } from '../words/heartbeat.ts';
import { remedyInText } from '../words/remedy.ts';
import { sessionDoing, sessionTitle } from '../words/session.ts';
import { HEARTBEAT_TONES, SEVERITY_TONES } from '../words/tones.ts';
import { wrap } from '../words/wrap.ts';
import { type Branch, type Counted, type Group, groupProcesses } from './once-groups.ts';
import { type Paint, painter, VERDICT_TONE } from './paint.ts';

export interface TextOptions {
  readonly width: number;
  readonly color: boolean;
  /** Every process has a row, however many are alike. */
  readonly all?: boolean;
}

/** Narrower than this, the numbers leave no room for a name. */
const LEAST_WIDTH = 40;

/** What a person reads at a glance: a header, the tree, the findings, and what would come back. */
export const onceText = (snapshot: Snapshot, { width: asked, color, all = false }: TextOptions): string => {
  const width = Math.max(LEAST_WIDTH, asked);
  const paint = painter(color);
  const groups = groupProcesses(snapshot, all);
  const lines = [
    ...headerLines(snapshot, width, paint),
    ...snapshot.warnings.flatMap(warning =>
      wrap(`! ${warning}`, width, '  ').map(line => paint(line, 'warn')),
    ),
    ...(groups.length === 0 ? [] : ['', paint(cut(COLUMN_HEADER, width), 'faint')]),
    ...groups.flatMap(group => groupLines(group, width, paint)),
    ...heartbeatLines(snapshot.heartbeats, width, paint),
    ...findingLines(snapshot, width, paint),
    '',
    ...closingLines(snapshot, width, paint),
  ];
  return `${lines.join('\n')}\n`;
};

const headerLines = ({ host, totals }: Snapshot, width: number, paint: Paint): string[] => {
  const used =
    host.memTotal === null || host.memAvailable === null ? null : host.memTotal - host.memAvailable;
  const machine = used === null ? '' : `, machine ${formatBytes(used)} of ${formatBytes(host.memTotal)}`;
  const swap = totals.swap > 0 ? ` + ${formatBytes(totals.swap)} swap` : '';
  const agents = `${plural(totals.agents, 'agent')}, ${totals.related} related of ${plural(totals.processes, 'process', 'processes')}`;
  const first = `reaptop ${host.name}: ${agents}; ${formatBytes(totals.rss)} RSS${swap}${machine}`;
  const second = [
    `${totals.leaks} leaked`,
    plural(totals.suspects, 'suspect'),
    plural(totals.zombies, 'zombie'),
    `${formatBytes(totals.reclaimable)} reclaimable`,
  ].join(', ');
  const tone = totals.leaks > 0 ? 'bad' : totals.suspects + totals.zombies > 0 ? 'warn' : 'good';
  return [
    ...wrap(first, width, '  ').map(line => paint(line, 'strong')),
    ...wrap(second, width, '  ').map(line => paint(line, tone)),
  ];
};

const COLUMN_HEADER = `${'PID'.padStart(7)} ${'MEM'.padStart(5)} ${'AGE'.padStart(6)} S VERDICT   PROCESS`;

const TITLE_TONE = { plain: 'strong', leak: 'bad', suspect: 'warn' } as const;

const groupLines = ({ title, tone, branches }: Group, width: number, paint: Paint): string[] => [
  paint(cut(title, width), TITLE_TONE[tone]),
  ...branches.flatMap(branch =>
    'process' in branch ? branchLines(branch, width, paint) : [countedLine(branch, width, paint)],
  ),
];

/** Below the names, or below the pids where those leave no room. */
const nameColumn = (width: number): number => (width < 60 ? 8 : COLUMN_HEADER.length - 'PROCESS'.length);

const countedLine = ({ text, drawing }: Counted, width: number, paint: Paint): string =>
  paint(cut(`${' '.repeat(nameColumn(width))}${drawing}${text}`, width), 'faint');

const branchLines = ({ process: p, drawing, explained }: Branch, width: number, paint: Paint): string[] => {
  const numbers = `${String(p.facts.pid).padStart(7)} ${formatBytes(isZombie(p.facts) ? 0 : memoryOf(p.facts)).padStart(5)} ${formatAge(p.ageSeconds).padStart(6)} ${p.facts.state} `;
  const verdict = p.verdict.padEnd(9);
  const room = width - numbers.length - verdict.length - 1;
  const row = `${numbers}${paint(verdict, VERDICT_TONE[p.verdict])} ${describe(p, drawing, room, paint)}`;
  if (!explained) return [row];
  const deep = cells(drawing) * 4 > room ? 0 : cells(drawing);
  const indent = ' '.repeat(nameColumn(width) + deep + 2);
  return [row, ...wrap(`${indent}${p.why.join('; ')}`, width, indent).map(line => paint(line, 'faint'))];
};

const describe = (p: JudgedProcess, drawing: string, room: number, paint: Paint): string => {
  const zombies = p.zombies > 0 ? ` Z×${p.zombies}` : '';
  // On a narrow screen a deep branch would leave nothing of the name.
  const branch = cells(drawing) * 2 > room ? drawing.slice(-2) : drawing;
  const name = cut(`${branch}${p.name}`, Math.max(1, room - cells(zombies)));
  const left = room - cells(name) - cells(zombies) - 2;
  const rest = left >= 8 ? cut(doing(p), left) : '';
  return `${name}${paint(zombies, 'bad')}${rest === '' ? '' : `  ${paint(rest, 'faint')}`}`;
};

/** The command where it says more than the name; of an agent first what its session does, its name, and where. */
const doing = (p: JudgedProcess): string => {
  // The Bash tool's own words around the command would fill every row with the same.
  const command = p.command === p.name || p.seen.role === 'bash-tool' ? '' : p.command;
  const cwd = p.kind === 'agent' ? p.facts.details?.cwd : null;
  const session = p.session ? [sessionDoing(p.session), sessionTitle(p.session)] : [];
  return [...session, cwd == null ? '' : `in ${cwd}`, command].filter(part => part !== '').join('  ');
};

/** Leftovers are counted in a finding; listing them one by one would bury the living. */
const heartbeatLines = (heartbeats: readonly Heartbeat[], width: number, paint: Paint): string[] => {
  const shown = heartbeats.filter(
    ({ state, agent }) => state !== 'leftover' && (state !== 'fine' || agent !== null),
  );
  if (shown.length === 0) return [];
  return ['', paint('heartbeats', 'strong'), ...shown.map(beat => heartbeatLine(beat, width, paint))];
};

const heartbeatLine = (beat: Heartbeat, width: number, paint: Paint): string => {
  const about = [beatAbout(beat) || null, beatOwner(beat), beat.reason, beat.path];
  const text = `${formatAge(beat.ageSeconds).padStart(6)}  ${beat.format}  ${about.filter(part => part !== null).join(', ')}`;
  return `${paint(beat.state.padEnd(10), HEARTBEAT_TONES[beat.state])} ${cut(text, width - 11)}`;
};

const findingLines = (snapshot: Snapshot, width: number, paint: Paint): string[] =>
  snapshot.findings.length === 0
    ? []
    : [
        '',
        paint('findings', 'strong'),
        ...snapshot.findings.flatMap(finding => [
          `${paint(finding.severity.padEnd(8), SEVERITY_TONES[finding.severity])} ${cut(titleInText(finding), width - 9)}`,
          ...wrap(`         ${finding.why}`, width, '         ').map(line => paint(line, 'faint')),
          ...wrap(`         → ${remedyOf(finding, snapshot)}`, width, '           '),
        ]),
      ];

/** What the id says already is not said twice. */
const titleInText = ({ id, title }: Finding): string => `${id}: ${title.replace(/^leaked: /, '')}`;

/** Whether it is a table of another machine, or of another time: no command of this one helps there. */
const isElsewhere = ({ host }: Snapshot): boolean => host.backend === 'recorded';

const remedyOf = (finding: Finding, snapshot: Snapshot): string => {
  if (isElsewhere(snapshot)) return finding.remedy;
  const about = new Set(finding.processes.map(keyOf));
  const ages = snapshot.processes.filter(p => about.has(keyOf(p.facts))).map(p => p.ageSeconds ?? 0);
  return remedyInText(finding, Math.max(0, ...ages));
};

const closingLines = (snapshot: Snapshot, width: number, paint: Paint): string[] => {
  const { totals, processes } = snapshot;
  if (totals.leaks > 0) {
    const told = isElsewhere(snapshot)
      ? [leakedElsewhere(totals)]
      : leakedHere(ripenessOf(processes, CLEAN_AGE_MINUTES * 60));
    return told.flatMap(text => wrap(text, width, '  ').map(line => paint(line, 'strong')));
  }
  // Nothing recognised is not the same as nothing leaked.
  if (totals.related === 0) return [];
  return [paint(cut('Nothing is proven leaked.', width), totals.suspects > 0 ? 'plain' : 'good')];
};
