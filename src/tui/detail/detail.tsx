import { Box, useIsScreenReaderEnabled } from 'ink';
import type { ReactNode } from 'react';
import { callDetail, tokensText } from '../../model/call.ts';
import { beatText } from '../../model/heartbeat.ts';
import { keyOf } from '../../model/identity.ts';
import { beatTone, sessionTone } from '../../model/levels.ts';
import { remedyInKeys } from '../../model/plan-text.ts';
import { knownMemory } from '../../model/process.ts';
import { type JudgedProcess, type Owner, sessionText } from '../../model/snapshot.ts';
import { homely, wrap } from '../../model/text.ts';
import { formatAge, formatBytes, plural, spellBytes } from '../../model/units.ts';
import type { Action, MouseHandlers } from '../keys/input.ts';
import { useMouse } from '../keys/use-mouse.ts';
import { type Screen, selectedRow } from '../screen.ts';
import type { Store } from '../store.ts';
import type { Row } from '../tree/row-order.ts';
import { Frame } from '../ui/frame.tsx';
import { Lines } from '../ui/line.tsx';
import { type Runs, run, toWidth } from '../ui/runs.ts';
import type { ThemeTone } from '../ui/theme.ts';
import { scrollText, TitleRule } from '../ui/title-rule.tsx';
import { useScreen } from '../ui/use-screen.ts';
import { growthText, LABEL, memoryText, plotLines } from './memory.ts';

/** Rows and columns inside its frame, or below its title. */
const inside = ({ layout }: Pick<Screen, 'layout'>): { readonly width: number; readonly room: number } =>
  layout.framed
    ? { width: layout.detailColumns - 2, room: layout.detailRows - 2 }
    : { width: layout.detailColumns, room: layout.detailRows - 1 };

/** Everything about the selected process: beside or below the tree, or in its place. */
export const Detail = (): ReactNode => {
  const screen = useScreen();
  const { layout, glyphs, view } = screen;
  const wheel = useMouse(WHEEL);
  const withPlots = !useIsScreenReaderEnabled();
  const row = selectedRow(screen);
  const { width, room } = inside(screen);
  const content = row ? detailContent(row, screen, width, withPlots) : [];
  const from = Math.min(view.detailScroll, Math.max(0, content.length - room));
  const scrolled = scrollText({ from, room, length: content.length }, glyphs);
  const more = scrolled === '' ? '' : `J K scroll, ${scrolled}`;
  const lines = <Lines of={content.slice(from, from + room)} width={width} />;
  return (
    <Box ref={wheel} flexDirection="column" flexShrink={0} height={layout.detailRows}>
      {layout.framed ? (
        <Frame
          width={layout.detailColumns}
          rows={room}
          active={false}
          title={[run(` ${titleOf(row)} `, 'strong')]}
          belowRight={more === '' ? [] : [run(` ${more} `, 'faint')]}
        >
          {lines}
        </Frame>
      ) : (
        <>
          <TitleRule title={titleOf(row)} width={width} more={more} />
          {lines}
        </>
      )}
    </Box>
  );
};

/** Beside the tree; without frames there is a bar between them. */
export const DetailBeside = (): ReactNode => {
  const { layout, glyphs } = useScreen();
  const bar = [run(glyphs.bar, 'rule')];
  return (
    <Box flexShrink={0}>
      {!layout.framed && (
        <Box flexDirection="column" flexShrink={0}>
          <Lines of={Array.from({ length: layout.detailRows }, () => bar)} />
        </Box>
      )}
      <Detail />
    </Box>
  );
};

const titleOf = (row: Row | null): string => {
  if (!row) return 'no row selected';
  return row.process ? `${row.process.name} ${row.process.facts.pid}` : row.group!.title;
};

const scroll = (store: Store, by: number): void => {
  const limit = detailOverflow(store.screen);
  const to = Math.min(limit, Math.max(0, store.view.detailScroll + by));
  store.dispatch({ type: 'detail-scroll', to });
};

const WHEEL: MouseHandlers = { wheel: scroll };

export const DETAIL_KEYS = {
  'detail-down': store => scroll(store, 3),
  'detail-up': store => scroll(store, -3),
} satisfies Record<string, Action>;

/** `label    text`, wrapped under itself. */
const field = (label: string, text: string, width: number, tone: ThemeTone = 'plain'): readonly Runs[] =>
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
  registry: "from Claude's own session file",
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
  live: 'Yes, with x. Clean-up never touches it.',
  leak: 'Yes. c cleans all leaks, x ends only this one.',
  suspect: 'Yes, with x. Clean-up never touches it.',
  unknown: 'Yes, with x. Clean-up never touches it.',
  protected: 'No. It is protected.',
} satisfies Record<JudgedProcess['verdict'], string>;

const killable = (p: JudgedProcess): string => {
  const ownCommand = /use `([^`]+)`/.exec(p.protectedBecause ?? '')?.[1];
  if (p.protection === 'hard') return ownCommand === undefined ? 'No.' : `No. Run ${ownCommand}.`;
  if (p.protection === 'soft') return 'Only with x, after you type its pid.';
  return KILLABLE[p.verdict];
};

const childLines = (row: Row, screen: Screen, width: number): readonly Runs[] => {
  const children = screen.snapshot.processes.filter(c => c.facts.ppid === row.process!.facts.pid);
  if (children.length === 0) return field('children', 'none', width, 'faint');
  const below = `${plural(children.length, 'child', 'children')}, ${row.count} processes in all, ${spellBytes(row.treeBytes)}`;
  return [
    ...field('children', below, width),
    ...children
      .slice(0, 8)
      .map(
        (c): Runs => [
          run(' '.repeat(LABEL + 1)),
          run(toWidth(String(c.facts.pid), 7, 'right'), 'faint'),
          run(` ${toWidth(formatBytes(knownMemory(c.facts)), 4, 'right')} `),
          run(
            c.facts.state === 'Z' ? `${c.name} (zombie)` : c.name,
            c.facts.state === 'Z' ? 'warn' : 'plain',
          ),
        ],
      ),
    ...(children.length > 8 ? field('', `and ${children.length - 8} more`, width, 'faint') : []),
  ];
};

/** Progress files, markers and stream logs of this agent. */
const fileLines = (row: Row, { snapshot }: Screen, width: number): readonly Runs[] =>
  snapshot.heartbeats
    .filter(beat => beat.agent && keyOf(beat.agent) === row.key)
    .flatMap((beat, i) => field(i === 0 ? 'files' : '', `${beat.format} ${beat.path}`, width));

/** Which session an agent is, what that does now, and the id that resumes it. */
const sessionLines = ({ session }: JudgedProcess, width: number): readonly Runs[] => {
  if (!session) return [];
  const told = [sessionText(session), session.id === null ? '' : `id ${session.id}`].filter(Boolean);
  return told.flatMap((text, i) =>
    field(i === 0 ? 'session' : '', text, width, i === 0 ? sessionTone(session) : 'faint'),
  );
};

/** What it waits for, and who works on that. */
const callLines = ({ session }: JudgedProcess, { snapshot }: Screen, width: number): readonly Runs[] =>
  (session?.calls ?? []).flatMap((call, i) => {
    const name = snapshot.processes.find(p => p.facts.pid === call.process?.pid)?.name ?? null;
    return field(i === 0 ? 'waits for' : '', callDetail(call, name), width, call.hung ? 'bad' : 'plain');
  });

const modelLines = ({ session }: JudgedProcess, width: number): readonly Runs[] => {
  const context = session?.context == null ? '' : `context ${tokensText(session.context.tokens)} tokens`;
  const text = [session?.model ?? '', context].filter(Boolean).join(', ');
  return text === '' ? [] : field('model', text, width, 'faint');
};

/** What its pane showed when the user peeked. */
const peekLines = (row: Row, { view }: Screen): readonly Runs[] => {
  if (view.peek?.key !== row.key) return [];
  const lines = view.peek.lines.length === 0 ? ['the pane is empty'] : view.peek.lines;
  return [...lines.map((line): Runs => [run(' | ', 'rule'), run(line)]), []];
};

/** Everything known about the selected process, as long as it needs to be. */
const detailContent = (row: Row, screen: Screen, width: number, withPlots: boolean): readonly Runs[] => {
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
    ...peekLines(row, screen),
    ...sessionLines(p, width),
    ...callLines(p, screen, width),
    ...modelLines(p, width),
    ...p.why.flatMap((why, i) =>
      field(i === 0 ? 'verdict' : '', i === 0 ? `${p.verdict}: ${why}` : why, width, p.verdict),
    ),
    ...field('', `Can I end it? ${killable(p)}`, width),
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
    ...field('memory', memoryText(p, screen), width),
    ...(withPlots ? plotLines(screen, row, width) : []),
    ...field('growth', grown.text, width, grown.tone),
    ...field('command', p.command, width),
    ...field('cwd', facts.details?.cwd == null ? 'unreadable' : homely(facts.details.cwd), width),
    ...(row.ports.length === 0 ? [] : field('ports', `listens on ${row.ports.join(', ')}`, width)),
    ...(p.owner?.pid === facts.pid ? [] : field('owner', ownerText(p.owner), width)),
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
const detailOverflow = (screen: Screen): number => {
  const row = selectedRow(screen);
  if (!row) return 0;
  const { width, room } = inside(screen);
  return Math.max(0, detailContent(row, screen, width, true).length - room);
};
