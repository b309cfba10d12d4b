import type { Finding } from '../model/finding.ts';
import { formatAge, formatBytes, plural, spellBytes } from '../model/format.ts';
import type { Heartbeat } from '../model/heartbeat.ts';
import { isZombie, memoryOf } from '../model/process.ts';
import type { JudgedProcess, Snapshot } from '../model/snapshot.ts';
import { cells, cut } from '../model/text.ts';
import { HEARTBEAT_TONES, SEVERITY_TONES } from '../words/tones.ts';
import { wrap } from '../words/wrap.ts';
import { type Branch, type Group, groupProcesses } from './once-groups.ts';
import { type Paint, painter, VERDICT_TONE } from './paint.ts';

export interface TextOptions {
  readonly width: number;
  readonly color: boolean;
}

/** Narrower than this, the numbers leave no room for a name. */
const LEAST_WIDTH = 40;

/** What a person reads at a glance: a header, the tree, the findings, and what would come back. */
export const onceText = (snapshot: Snapshot, { width: asked, color }: TextOptions): string => {
  const width = Math.max(LEAST_WIDTH, asked);
  const paint = painter(color);
  const groups = groupProcesses(snapshot);
  const lines = [
    ...headerLines(snapshot, width, paint),
    ...snapshot.warnings.flatMap(warning =>
      wrap(`! ${warning}`, width, '  ').map(line => paint(line, 'warn')),
    ),
    ...(groups.length === 0 ? [] : ['', paint(cut(COLUMN_HEADER, width), 'faint')]),
    ...groups.flatMap(group => groupLines(group, width, paint)),
    ...heartbeatLines(snapshot.heartbeats, width, paint),
    ...findingLines(snapshot.findings, width, paint),
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
  ...branches.flatMap((branch, index) => branchLines(branch, isGroupRoot(branch, index), width, paint)),
];

const isGroupRoot = (branch: Branch, index: number): boolean => index === 0 || branch.drawing === '';

const branchLines = (branch: Branch, root: boolean, width: number, paint: Paint): string[] => {
  const { process: p, drawing } = branch;
  const numbers = `${String(p.facts.pid).padStart(7)} ${formatBytes(isZombie(p.facts) ? 0 : memoryOf(p.facts)).padStart(5)} ${formatAge(p.ageSeconds).padStart(6)} ${p.facts.state} `;
  const verdict = p.verdict.padEnd(9);
  const room = width - numbers.length - verdict.length - 1;
  const row = `${numbers}${paint(verdict, VERDICT_TONE[p.verdict])} ${describe(p, drawing, room, paint)}`;
  const explain = root && (p.verdict === 'leak' || p.verdict === 'suspect');
  if (!explain) return [row];
  // Below the name where there is room for a sentence, else below the pid.
  const indent = ' '.repeat(width < 60 ? 8 : numbers.length + verdict.length + 1);
  return [
    row,
    ...wrap(`${indent}  ${p.why.join('; ')}`, width, `${indent}  `).map(line => paint(line, 'faint')),
  ];
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

/** The command where it says more than the name, and where it runs for an agent. */
const doing = (p: JudgedProcess): string => {
  // The Bash tool's own words around the command would fill every row with the same.
  const command = p.command === p.name || p.seen.role === 'bash-tool' ? '' : p.command;
  const cwd = p.kind === 'agent' ? p.facts.details?.cwd : null;
  return [cwd == null ? '' : `in ${cwd}`, command].filter(part => part !== '').join('  ');
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
  const about = [
    beat.task === null ? null : `task ${beat.task}`,
    beat.phase === null ? null : `phase ${beat.phase}`,
    beat.operation,
    beat.agent === null ? 'no agent found' : `agent ${beat.agent.pid}`,
    beat.reason,
    beat.path,
  ];
  const text = `${formatAge(beat.ageSeconds).padStart(6)}  ${beat.format}  ${about.filter(part => part !== null).join(', ')}`;
  return `${paint(beat.state.padEnd(10), HEARTBEAT_TONES[beat.state])} ${cut(text, width - 11)}`;
};

const findingLines = (findings: readonly Finding[], width: number, paint: Paint): string[] =>
  findings.length === 0
    ? []
    : [
        '',
        paint('findings', 'strong'),
        ...findings.flatMap(finding => [
          `${paint(finding.severity.padEnd(8), SEVERITY_TONES[finding.severity])} ${cut(`${finding.id}: ${finding.title}`, width - 9)}`,
          ...wrap(`         ${finding.why}`, width, '         ').map(line => paint(line, 'faint')),
          ...wrap(`         → ${finding.remedy}`, width, '           '),
        ]),
      ];

const closingLines = ({ totals }: Snapshot, width: number, paint: Paint): string[] => {
  if (totals.leaks > 0) {
    return [paint(cut(`${spellBytes(totals.reclaimable)} would come back: reaptop clean`, width), 'strong')];
  }
  // Nothing recognised is not the same as nothing leaked.
  if (totals.related === 0) return [];
  return [paint(cut('nothing is proven leaked', width), totals.suspects > 0 ? 'plain' : 'good')];
};
