import { formatAge, formatBytes, plural, spellBytes } from '../../model/format.ts';
import { keyOf } from '../../model/identity.ts';
import { memoryOf } from '../../model/process.ts';
import type { JudgedProcess, Owner } from '../../model/snapshot.ts';
import { beatText } from '../../words/heartbeat.ts';
import { remedyInKeys } from '../../words/remedy.ts';
import { sessionText } from '../../words/session.ts';
import { wrap } from '../../words/wrap.ts';
import type { Tone } from '../look/theme.ts';
import { beatTone, sessionTone } from '../view/activity.ts';
import { type Line, lineToWidth, run, toWidth } from '../view/line.ts';
import type { Row } from '../view/row.ts';
import { type Screen, selectedRow } from '../view/screen.ts';
import { growthText, LABEL, memoryText, plotLines } from './detail-memory.ts';
import { scrollText, titleRule } from './tabs.ts';

/** `label    text`, wrapped under itself. */
const field = (label: string, text: string, width: number, tone: Tone = 'plain'): readonly Line[] =>
  wrap(text, Math.max(8, width - LABEL - 2)).map((part, i) => [
    run(' '),
    run(toWidth(i === 0 ? label : '', LABEL), 'faint'),
    run(part, tone),
  ]);

const HOW = {
  ancestor: 'it runs below that agent',
  lineage: 'it was seen below that agent',
  environ: 'its environment names that session',
  tmux: 'it sits in that pane',
  registry: "Claude's own session file says so",
  continued: 'that session took over the one it came from',
} satisfies Record<Owner['how'], string>;

const ownerText = (owner: Owner | null): string => {
  if (!owner) return 'none known';
  const who =
    owner.pid === null ? (owner.sessionId === null ? 'a session' : 'session') : `agent ${owner.pid}`;
  const session = owner.sessionId === null ? '' : ` ${owner.sessionId.slice(0, 8)}`;
  return `${who}${session}, ${owner.alive ? 'running' : 'gone'}: ${HOW[owner.how]}`;
};

const KILLABLE = {
  live: 'x may, after the plan; c and clean never',
  leak: 'yes: c cleans it with the other leaks, x ends it alone',
  suspect: 'x may, after the plan; c and clean never',
  unknown: 'x may, after the plan; c and clean never',
  protected: 'protected',
} satisfies Record<JudgedProcess['verdict'], string>;

const killable = (p: JudgedProcess): string => {
  const because = p.protectedBecause ?? 'protected';
  if (p.protection === 'hard') return `no: ${because}`;
  if (p.protection === 'soft') return `only with x, and its pid typed: ${because}`;
  return KILLABLE[p.verdict];
};

const childLines = (row: Row, screen: Screen, width: number): readonly Line[] => {
  const children = screen.snapshot.processes.filter(c => c.facts.ppid === row.process!.facts.pid);
  if (children.length === 0) return field('children', 'none', width, 'faint');
  const below = `${children.length}, ${row.count} in the tree, ${spellBytes(row.treeBytes)} together`;
  return [
    ...field('children', below, width),
    ...children
      .slice(0, 8)
      .map(
        (c): Line => [
          run(' '.repeat(LABEL + 1)),
          run(toWidth(String(c.facts.pid), 7, 'right'), 'faint'),
          run(` ${toWidth(formatBytes(memoryOf(c.facts)), 4, 'right')} `),
          run(
            c.facts.state === 'Z' ? `${c.name} (zombie)` : c.name,
            c.facts.state === 'Z' ? 'warn' : 'plain',
          ),
        ],
      ),
    ...(children.length > 8 ? field('', `and ${children.length - 8} more`, width, 'faint') : []),
  ];
};

/** Progress files, markers and stream logs that speak of this agent. */
const fileLines = (row: Row, { snapshot }: Screen, width: number): readonly Line[] =>
  snapshot.heartbeats
    .filter(beat => beat.agent && keyOf(beat.agent) === row.key)
    .flatMap((beat, i) => field(i === 0 ? 'files' : '', `${beat.format} ${beat.path}`, width));

/** Which session an agent is, what that does now, and the id that resumes it. */
const sessionLines = ({ session }: JudgedProcess, width: number): readonly Line[] => {
  if (!session) return [];
  const told = [sessionText(session), session.id === null ? '' : `id ${session.id}`].filter(Boolean);
  return told.flatMap((text, i) =>
    field(i === 0 ? 'session' : '', text, width, i === 0 ? sessionTone(session) : 'faint'),
  );
};

/** Everything known about the selected process, as long as it needs to be. */
export const detailContent = (row: Row, screen: Screen, width: number, withPlots = true): readonly Line[] => {
  const p = row.process;
  if (!p) {
    const text = `${plural(row.count, 'process', 'processes')}, ${spellBytes(row.treeBytes)} together.`;
    return [
      ...field('group', row.group!.title, width, 'strong'),
      ...field('', text, width),
      ...field('', row.group!.note, width, 'faint'),
    ];
  }
  const { facts } = p;
  const findings = screen.snapshot.findings.filter(f => f.processes.some(i => keyOf(i) === row.key));
  const grown = growthText(screen, p);
  const beat = row.beat ? beatText(row.beat) : '';
  return [
    ...sessionLines(p, width),
    ...p.why.flatMap((why, i) =>
      field(i === 0 ? 'verdict' : '', i === 0 ? `${p.verdict}: ${why}` : why, width, p.verdict),
    ),
    ...field('may end', killable(p), width),
    ...findings.flatMap(f =>
      field(
        f.severity,
        `${f.title}: ${f.why} ${screen.glyphs.arrow} ${remedyInKeys(f)}`,
        width,
        f.severity === 'info' ? 'plain' : f.severity === 'warn' ? 'warn' : 'bad',
      ),
    ),
    ...(beat === '' ? [] : field('beat', beat, width, beatTone(row.beat!))),
    ...fileLines(row, screen, width),
    ...field('memory', memoryText(p, screen.pss), width),
    ...(withPlots ? plotLines(screen, row, width) : []),
    ...field('growth', grown.text, width, grown.tone),
    ...field('command', p.command, width),
    ...field('cwd', facts.details?.cwd ?? 'unreadable', width),
    ...field('owner', ownerText(p.owner), width),
    ...(p.tmux
      ? field('tmux', `session ${p.tmux.session}, pane ${p.tmux.pane}, socket ${p.tmux.socket}`, width)
      : []),
    ...field(
      'process',
      `parent ${facts.ppid ?? '?'}, group ${facts.pgid ?? '?'}, session ${facts.sid ?? '?'}, ${facts.tty ?? 'no tty'}, state ${facts.state}, up ${formatAge(p.ageSeconds)}`,
      width,
    ),
    ...childLines(row, screen, width),
  ];
};

/** How far the detail can be scrolled. */
export const detailOverflow = (screen: Screen): number => {
  const row = selectedRow(screen);
  if (!row) return 0;
  return Math.max(
    0,
    detailContent(row, screen, screen.layout.detailColumns).length - (screen.layout.detailRows - 1),
  );
};

export const detailLines = (screen: Screen): readonly Line[] => {
  const { layout, glyphs, view } = screen;
  const { detailColumns: width, detailRows: rows } = layout;
  const row = selectedRow(screen);
  if (!row) return [titleRule('no row selected', width, glyphs.rule)];
  const title = row.process ? `${row.process.name} ${row.process.facts.pid}` : row.group!.title;
  const content = detailContent(row, screen, width);
  const room = rows - 1;
  const from = Math.min(view.detailScroll, Math.max(0, content.length - room));
  const scrolled = scrollText({ from, room, length: content.length }, glyphs);
  const more = scrolled === '' ? '' : `J K scroll, ${scrolled}`;
  return [
    titleRule(title, width, glyphs.rule, more),
    ...Array.from({ length: room }, (_, i) => lineToWidth(content[from + i] ?? [], width, glyphs.ellipsis)),
  ];
};
