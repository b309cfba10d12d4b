import type { LogLine } from '../../live/live.ts';
import type { Finding } from '../../model/finding.ts';
import { formatAge, plural, spellBytes } from '../../model/format.ts';
import type { Heartbeat } from '../../model/heartbeat.ts';
import { memoryOf } from '../../model/process.ts';
import { beatOwner, beatText } from '../../words/heartbeat.ts';
import { remedyInKeys } from '../../words/remedy.ts';
import { SIGNALS } from '../../words/signals.ts';
import { doing } from '../view/activity.ts';
import type { Line } from '../view/line.ts';
import { entriesOf } from '../view/panel-entries.ts';
import type { Row } from '../view/row.ts';
import { type Screen, selectedRow } from '../view/screen.ts';
import { toldOf } from '../view/told.ts';
import { detailContent } from './detail.ts';
import { entryLines } from './entry.ts';
import { keysLine } from './footer.ts';
import { flagsOf } from './header.ts';
import { helpContent } from './help.ts';
import { clockTime } from './panel.ts';
import { planLines, runningLines } from './plan.ts';
import { setupLines } from './setup.ts';

const SENTENCE_ROWS = 200;
/** Without what is drawn: a rule is no word. */
const text = (line: Line): string =>
  line
    .filter(({ tone }) => tone !== 'rule')
    .map(r => r.text)
    .join('')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** `claude, agent, process 1342, live, 412 MiB, up 5h12m, marked`. */
const rowSentence = (row: Row, { view }: Screen): string => {
  const marked = view.marked.has(row.key) ? ', marked' : '';
  if (row.group)
    return `${row.group.title}, ${plural(row.count, 'process', 'processes')}, ${spellBytes(row.treeBytes)}`;
  const p = row.process!;
  const zombies = p.zombies > 0 ? `, has not reaped ${plural(p.zombies, 'zombie')}` : '';
  const what = doing(row).text;
  return `${p.name}, ${p.kind}, process ${p.facts.pid}, ${p.verdict}, ${spellBytes(memoryOf(p.facts))}, up ${formatAge(p.ageSeconds)}${zombies}${marked}${what ? `: ${what}` : ''}`;
};

const overlaySentences = (screen: Screen): readonly string[] | null => {
  const { overlay } = screen.view;
  switch (overlay?.kind) {
    case undefined:
      return null;
    case 'help':
      return helpContent(SENTENCE_ROWS, true).map(text);
    case 'entry':
      return entryLines(screen, SENTENCE_ROWS).map(text);
    case 'signals':
      return SIGNALS.map(
        ({ name, means }, i) => `${i === overlay.cursor ? 'selected: ' : ''}${name}, ${means}`,
      );
    case 'setup':
      return setupLines(screen, SENTENCE_ROWS).map(text);
    case 'export':
      return ['Export the screen as?'];
    case 'planning':
      return ['Reading the processes afresh.'];
    case 'plan':
      return planLines(screen, SENTENCE_ROWS).map(text);
    case 'running':
      return runningLines(screen, SENTENCE_ROWS).map(text);
  }
};

const sentenceOf = {
  findings: (f: Finding) => `${f.severity}: ${f.title}: ${f.why}. To do: ${remedyInKeys(f)}`,
  heartbeats: (b: Heartbeat) =>
    `${b.state}, ${formatAge(b.ageSeconds)} old: ${beatText(b) || `${b.format}, ${beatOwner(b)}`}, ${b.path}`,
  log: (l: LogLine) => `${clockTime(l.at)}, ${l.text}`,
};

const TITLES = { findings: 'Finding', heartbeats: 'Heartbeat', log: 'Entry of the log' };

/** Which entry of a panel the keys are on; null while the tree has them. */
const entrySentence = (screen: Screen): string | null => {
  const { view } = screen;
  if (view.focus === 'tree') return null;
  const among = entriesOf(view.focus, screen);
  const under = among[view.panelCursor];
  const told =
    view.panelLost !== null
      ? 'it is over'
      : under === undefined
        ? 'none'
        : // The table's type guarantees that the entry is one of this panel; the compiler cannot relate the two unions.
          (sentenceOf[view.focus] as (entry: unknown) => string)(under);
  return `${TITLES[view.focus]} ${among.length === 0 ? 0 : view.panelCursor + 1} of ${among.length}: ${told}`;
};

/** The screen as sentences, most important first. */
export const spokenLines = (screen: Screen): readonly string[] => {
  const { snapshot, view, rows } = screen;
  const { totals } = snapshot;
  const summary = `reaptop: ${plural(totals.agents, 'agent')}, ${plural(totals.leaks, 'leak')}, ${spellBytes(totals.reclaimable)} reclaimable, ${plural(totals.zombies, 'zombie')}, ${plural(snapshot.findings.length, 'finding')}.`;
  const unusual = flagsOf(screen).map(flag => flag.text);
  const over = overlaySentences(screen);
  const footer = toldOf(screen)?.text ?? text(keysLine(screen));
  const first = [summary, ...(unusual.length === 0 ? [] : [`${unusual.join(', ')}.`])];
  if (over) return [...first, ...over.filter(line => line !== ''), footer];
  const selected = selectedRow(screen);
  const place = selected
    ? `Row ${view.selectedIndex + 1} of ${rows.length}: ${rowSentence(selected, screen)}`
    : `0 recognised of ${totals.processes} processes.`;
  const detail =
    view.detail && selected ? detailContent(selected, screen, SENTENCE_ROWS, false).map(text) : [];
  const findings =
    view.focus === 'tree' || view.focus === 'findings'
      ? snapshot.findings.map(f => `${f.severity}: ${f.title}`)
      : [];
  return [...first, entrySentence(screen) ?? place, ...detail, ...findings, footer];
};
