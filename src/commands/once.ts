import { uptime } from 'node:os';
import { type Collector, sampleWhole } from '../engine/collector.ts';
import { UsageError } from '../engine/load-config.ts';
import { beatOnRow } from '../judge/heartbeats/judge-files.ts';
import { lineFactsOf } from '../judge/line-facts.ts';
import { type AskedBySession, type Mine, mineOf, onlyMine } from '../judge/mine.ts';
import { cleanableLeaks } from '../judge/plan/clean.ts';
import { type LineOptions, statusLine } from '../judge/status-line.ts';
import { atLeast, type Finding, type Severity } from '../model/finding.ts';
import { beatAbout, beatOwner, type Heartbeat } from '../model/heartbeat.ts';
import { keyOf } from '../model/identity.ts';
import { type Branch, branchesOf, describe, groupBranches } from '../model/levels.ts';
import { CLEAN_AGE_MINUTES } from '../model/plan.ts';
import { cleanCommand, remedyInText } from '../model/plan-text.ts';
import { knownMemory, memoryOf } from '../model/process.ts';
import { safeText } from '../model/redact.ts';
import { identityOf, type JudgedProcess, label, type Snapshot, type Totals } from '../model/snapshot.ts';
import { snapshotJson } from '../model/snapshot-json.ts';
import { cells, cut, showableJson, wrap } from '../model/text.ts';
import type { Asked } from '../model/time.ts';
import { HEARTBEAT_TONES, SEVERITY_TONES } from '../model/ui-settings.ts';
import { formatAge, formatBytes, plural, spellBytes } from '../model/units.ts';
import { stateDirectory } from '../observe/state/state-directory.ts';
import type { System } from '../observe/system.ts';
import { EXIT_FAIL_ON, type Paint, painter, VERDICT_TONE } from '../output.ts';
import { askingSession } from './line.ts';

export interface OnceOptions {
  readonly all: boolean;
  readonly json: boolean;
  readonly width: number;
  readonly color: boolean;
  readonly failOn: Severity | null;
}

export interface Writer {
  write(text: string): void;
}

/** One snapshot to stdout. */
export const once = async (collector: Collector, options: OnceOptions, out: Writer): Promise<number> =>
  showSnapshot(await sampleWhole(collector, options.all), options, out);

/** `--once --at`: a snapshot of the flight recorder, as it was judged then. */
export const onceAt = async (
  asked: Asked,
  options: OnceOptions,
  env: NodeJS.ProcessEnv,
  out: Writer,
): Promise<number> => {
  const directory = stateDirectory(env);
  if (directory === null) throw new Error('there is no directory for what guard records: HOME is not set.');
  const { openMoment, Recording } = await import('../remember/recorder/recording.ts');
  const bootedAt = Date.now() - uptime() * 1000;
  const opened = openMoment(new Recording(directory), asked, { bootedAt });
  if (!opened.ok) throw new Error(opened.message);
  return showSnapshot(opened.snapshot, options, out);
};

const showSnapshot = (snapshot: Snapshot, options: OnceOptions, out: Writer): number => {
  out.write(
    options.json
      ? `${showableJson(JSON.stringify(snapshotJson(snapshot), null, 2))}\n`
      : onceText(snapshot, options),
  );
  return failOnCode(snapshot, options.failOn);
};

/** The session that calls us. A sentence where there is none: nobody else's processes are shown in its place. */
export const calledFrom = (snapshot: Snapshot, asked: AskedBySession): Mine => {
  const mine = mineOf(snapshot, asked);
  if (mine === null)
    throw new UsageError('--mine is for the shell of an agent, and no agent session is above this one.');
  return mine;
};

/** `--once --mine`: what the session that calls us started and left, each with the ports it listens on. */
export const onceMine = async (
  collector: Collector,
  system: System,
  asked: AskedBySession,
  options: OnceOptions,
  out: Writer,
): Promise<number> => {
  // Every process: what a session started need not look as if it concerned an agent.
  const whole = await sampleWhole(collector, true);
  const mine = calledFrom(whole, asked);
  const own = onlyMine(whole, mine);
  const requests = mine.processes.map(p => ({ ...identityOf(p), descriptors: false, sockets: true }));
  const details = requests.length === 0 ? null : await system.details(requests);
  const portsOf = (p: JudgedProcess): readonly number[] | null =>
    p.facts.details?.listening?.ports ?? details?.get(keyOf(p.facts))?.listening?.ports ?? null;
  if (options.json) {
    const { processes, ...rest } = snapshotJson(own);
    const ports = new Map(own.processes.map(p => [p.facts.pid, portsOf(p)]));
    const document = {
      ...rest,
      mine: { pid: mine.agent?.facts.pid ?? null, sessionId: mine.sessionId },
      processes: processes.map(p => ({ ...p, ports: ports.get(p.pid) ?? null })),
    };
    out.write(`${showableJson(JSON.stringify(document, null, 2))}\n`);
  } else out.write(mineText(own, mine, portsOf, options));
  return failOnCode(own, options.failOn);
};

const mineText = (
  { totals, findings }: Snapshot,
  { agent, sessionId, processes, shells }: Mine,
  portsOf: (p: JudgedProcess) => readonly number[] | null,
  { width, color }: OnceOptions,
): string => {
  const paint = painter(color);
  const who = agent === null ? 'a session that has ended' : label(agent);
  const id = sessionId === null ? '' : `, session ${safeText(sessionId).slice(0, 8)}`;
  const bytes = processes.reduce((sum, p) => sum + memoryOf(p.facts), 0);
  const first = `${who}${id}: ${plural(processes.length, 'process', 'processes')} of its own, ${formatBytes(bytes)}; ${totals.leaks} leaked`;
  const background = new Set(shells);
  const rows = processes.map(p => {
    const ports = portsOf(p);
    const numbers = `${String(p.facts.pid).padStart(7)} ${formatBytes(knownMemory(p.facts)).padStart(5)} ${formatAge(p.ageSeconds).padStart(6)} ${p.facts.state}`;
    const on = ports === null || ports.length === 0 ? '' : ` :${ports.join(' :')}`;
    const removed =
      p.facts.details?.cwd?.endsWith(' (deleted)') === true ? ' (its directory was removed)' : '';
    const note = `${background.has(p) ? ' (background)' : ''}${removed}`;
    const text = `${numbers} ${paint(p.verdict.padEnd(9), VERDICT_TONE[p.verdict])}`;
    return `${text} ${cut(`${p.name}${on}${note}  ${p.command}`, Math.max(8, width - numbers.length - 11))}`;
  });
  const about = findings.flatMap(finding => wrap(`${finding.severity} ${titleInText(finding)}`, width, '  '));
  return [
    ...wrap(first, width, '  ').map(line => paint(line, 'strong')),
    ...(rows.length === 0 ? [] : [paint(cut(COLUMN_HEADER, width), 'faint'), ...rows]),
    ...about,
    ...(rows.length === 0 ? [] : ['End what you do not need by its exact pid, never by name: kill PID']),
    '',
  ].join('\n');
};

/** `--fail-on`: 3 when a finding is at least that bad, else 0. */
export const failOnCode = (snapshot: Snapshot, failOn: Severity | null): number =>
  failOn !== null && snapshot.findings.some(finding => atLeast(finding.severity, failOn)) ? EXIT_FAIL_ON : 0;

/** `--once --line` where no guard has looked for us. */
export const onceLine = async (
  collector: Collector,
  { failOn, ...options }: Omit<LineOptions, 'own'> & { readonly failOn: Severity | null },
  out: Writer,
): Promise<number> => {
  const own = await askingSession(options.style);
  const snapshot = await sampleWhole(collector, false);
  const line = statusLine(lineFactsOf(snapshot), { ...options, own });
  if (line !== '') out.write(`${line}\n`);
  return failOnCode(snapshot, failOn);
};

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
  const tree = treeOf(snapshot, all, width, paint);
  const lines = [
    ...headerLines(snapshot, width, paint),
    ...snapshot.warnings.flatMap(warning =>
      wrap(`! ${warning}`, width, '  ').map(line => paint(line, 'warn')),
    ),
    ...(tree.length === 0 ? [] : ['', paint(cut(COLUMN_HEADER, width), 'faint'), ...tree]),
    ...heartbeatLines(snapshot.heartbeats, width, paint),
    ...findingLines(snapshot, width, paint),
    '',
    ...closingLines(snapshot, width, paint),
  ];
  return `${lines.join('\n')}\n`;
};

const headerLines = ({ host, totals, processes }: Snapshot, width: number, paint: Paint): string[] => {
  const memoryKnown = processes.length === 0 || processes.some(p => knownMemory(p.facts) !== null);
  const used =
    host.memTotal === null || host.memAvailable === null ? null : host.memTotal - host.memAvailable;
  const machine = used === null ? '' : `, machine ${formatBytes(used)} of ${formatBytes(host.memTotal)}`;
  const swap = totals.swap > 0 ? ` + ${formatBytes(totals.swap)} swap` : '';
  const agents = `${plural(totals.agents, 'agent')}, ${totals.related} agent processes of ${totals.processes}`;
  const first = `reaptop ${host.name}: ${agents}; ${memoryKnown ? `${formatBytes(totals.rss)} RSS${swap}` : 'memory unknown'}${machine}`;
  const second = [
    `${totals.leaks} leaked`,
    plural(totals.suspects, 'suspect'),
    plural(totals.zombies, 'zombie'),
    ...(memoryKnown ? [`${formatBytes(totals.reclaimable)} reclaimable`] : []),
  ].join(', ');
  const tone = totals.leaks > 0 ? 'bad' : totals.suspects + totals.zombies > 0 ? 'warn' : 'good';
  return [
    ...wrap(first, width, '  ').map(line => paint(line, 'strong')),
    ...wrap(second, width, '  ').map(line => paint(line, tone)),
  ];
};

const COLUMN_HEADER = `${'PID'.padStart(7)} ${'MEM'.padStart(5)} ${'AGE'.padStart(6)} S VERDICT   PROCESS`;

const GROUP_TONE = {
  group: 'strong',
  server: 'strong',
  asleep: 'faint',
  leak: 'bad',
  suspect: 'warn',
} as const;

const GROUP_WORDS = { group: '', server: '', asleep: '', leak: 'leaked: ', suspect: 'suspect: ' } as const;

/** Below the names, or below the pids where those leave no room. */
const nameColumn = (width: number): number => (width < 60 ? 8 : COLUMN_HEADER.length - 'PROCESS'.length);

interface Drawn {
  readonly width: number;
  readonly paint: Paint;
  readonly beats: ReadonlyMap<string, Heartbeat>;
}

/** A branch, and the drawing that stands before it and before what hangs below it. */
interface Hanging {
  readonly branch: Branch;
  readonly drawing: string;
  readonly below: string;
  /** Its reasons are written below it: no row before has written the same. */
  readonly explained: boolean;
}

/** Cells of the drawing that a row passes on to those below it: deeper than any line is wide. */
const DEEPEST = 1000;

const isDoubtful = ({ verdict }: JudgedProcess): boolean => verdict === 'leak' || verdict === 'suspect';

const childrenOf = ({ branch, below }: Hanging): Hanging[] =>
  branch.children.map((child, at) => {
    const last = at === branch.children.length - 1;
    return {
      branch: child,
      drawing: `${below}${last ? '└ ' : '├ '}`,
      below: `${below}${last ? '  ' : '│ '}`.slice(-DEEPEST),
      explained: isDoubtful(child.process) && child.process.verdict !== branch.process.verdict,
    };
  });

/** The rows of a tree. Not by recursion: a chain of thousands is deeper than the stack. */
const treeLines = (root: Branch, before: Branch | undefined, drawn: Drawn): string[] => {
  const explained = isDoubtful(root.process) && before?.process.why.join() !== root.process.why.join();
  const pending: Hanging[] = [{ branch: root, drawing: '', below: '', explained }];
  const lines: string[] = [];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    lines.push(...branchLines(next, drawn));
    pending.push(...childrenOf(next).reverse());
  }
  return lines;
};

const branchLines = (
  { branch, drawing, explained }: Hanging,
  { width, paint, beats }: Drawn,
): readonly string[] => {
  const { process: p, key } = branch;
  const numbers = `${String(p.facts.pid).padStart(7)} ${formatBytes(knownMemory(p.facts)).padStart(5)} ${formatAge(p.ageSeconds).padStart(6)} ${p.facts.state} `;
  const verdict = p.verdict.padEnd(9);
  const room = width - numbers.length - verdict.length - 1;
  const zombies = p.zombies > 0 ? ` Z×${p.zombies}` : '';
  // On a narrow screen a deep branch would leave nothing of the name.
  const hung = cells(drawing) * 2 > room ? drawing.slice(-2) : drawing;
  const name = cut(`${hung}${p.name}`, Math.max(1, room - cells(zombies)));
  const left = room - cells(name) - cells(zombies) - 2;
  const { text } = describe(
    p,
    { beat: beats.get(key) ?? null, inherits: isDoubtful(p) },
    { cells: left, ellipsis: '…' },
  );
  const rest = left >= 8 ? cut(text, left) : '';
  const row = `${numbers}${paint(verdict, VERDICT_TONE[p.verdict])} ${name}${paint(zombies, 'bad')}${rest === '' ? '' : `  ${paint(rest, 'faint')}`}`;
  if (!explained) return [row];
  const deep = cells(drawing) * 4 > room ? 0 : cells(drawing);
  const indent = ' '.repeat(nameColumn(width) + deep + 2);
  return [row, ...wrap(`${indent}${p.why.join('; ')}`, width, indent).map(line => paint(line, 'faint'))];
};

/** Of what one dead session left, or one program where no session is known, this many trees are shown. */
const SHOWN_LEAKS = 3;

/** The groups of the screen in its order; of many leaks alike the first few, and how many more there are. */
const treeOf = (snapshot: Snapshot, all: boolean, width: number, paint: Paint): string[] => {
  const drawn = { width, paint, beats: beatOnRow(snapshot.heartbeats) };
  return groupBranches(branchesOf(snapshot, all), snapshot, 'tmux').flatMap(({ group, branches }) => {
    const title = `${GROUP_WORDS[group.tone]}${group.title}${group.note === '' ? '' : `: ${group.note}`}`;
    const most = group.tone === 'leak' && !all ? SHOWN_LEAKS : branches.length;
    // Counting one is no shorter than showing it.
    const shown = branches.length <= most + 1 ? branches : branches.slice(0, most);
    const rest = branches.slice(shown.length);
    const count = rest.reduce((sum, branch) => sum + branch.count, 0);
    const bytes = rest.reduce((sum, branch) => sum + branch.bytes, 0);
    const more = `${' '.repeat(nameColumn(width))}and ${count} more like these, ${formatBytes(bytes)} (see --all)`;
    return [
      paint(cut(title, width), GROUP_TONE[group.tone]),
      ...shown.flatMap((branch, at) => treeLines(branch, shown[at - 1], drawn)),
      ...(rest.length === 0 ? [] : [paint(cut(more, width), 'faint')]),
    ];
  });
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
      : leakedHere(cleanableLeaks(processes, CLEAN_AGE_MINUTES * 60));
    return told.flatMap(text => wrap(text, width, '  ').map(line => paint(line, 'strong')));
  }
  // Nothing recognised is not the same as nothing leaked.
  if (totals.related === 0) return [];
  if (processes.every(p => p.facts.ppid === null))
    return [paint(cut('Nothing can be judged without parents.', width), 'warn')];
  return [paint(cut('Nothing is proven leaked.', width), totals.suspects > 0 ? 'plain' : 'good')];
};

interface Amount {
  readonly count: number;
  readonly bytes: number;
}

const amount = ({ count, bytes }: Amount): string =>
  `${plural(count, 'process', 'processes')}, ${spellBytes(bytes)}`;

/** What can be cleaned, and the command that does it: never one that would answer "Nothing to do". */
const leakedHere = ({ now, later }: { readonly now: Amount; readonly later: Amount }): readonly string[] => {
  const lines: string[] = [];
  if (now.count > 0)
    lines.push(
      `Ready to clean: ${amount(now)}. reaptop clean shows the plan, reaptop clean --force runs it.`,
    );
  if (later.count > 0)
    lines.push(
      `${now.count > 0 ? 'Also leaked, but' : 'Leaked, but'} younger than ${CLEAN_AGE_MINUTES} min: ${amount(later)}. ${cleanCommand(0)} takes ${later.count === 1 ? 'it' : 'them'}${now.count > 0 ? ' too' : ''}.`,
    );
  return lines.length > 0 ? lines : ['None of these leaks can be cleaned now; run reaptop clean to see why.'];
};

/** Of another machine, or another time: nothing is signalled from here. */
const leakedElsewhere = ({ leaks, reclaimable }: Pick<Totals, 'leaks' | 'reclaimable'>): string =>
  `Leaked in this recording: ${amount({ count: leaks, bytes: reclaimable })}. Nothing can be ended from here.`;
