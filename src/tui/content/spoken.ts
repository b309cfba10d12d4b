import { formatAge, plural, spellBytes } from '../../model/format.ts';
import { memoryOf } from '../../model/process.ts';
import { SIGNALS } from '../../words/signals.ts';
import { doing } from '../view/activity.ts';
import type { Line } from '../view/line.ts';
import type { Row } from '../view/row.ts';
import { type Screen, selectedRow } from '../view/screen.ts';
import { detailContent } from './detail.ts';
import { entryLines } from './entry.ts';
import { footerLine } from './footer.ts';
import { helpContent } from './help.ts';
import { planLines, runningLines } from './plan.ts';
import { setupLines } from './setup.ts';

const SENTENCE_ROWS = 200;
const text = (line: Line): string =>
  line
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

/** The screen as sentences, most important first. */
export const spokenLines = (screen: Screen): readonly string[] => {
  const { snapshot, view, rows } = screen;
  const { totals } = snapshot;
  const summary = `reaptop: ${plural(totals.agents, 'agent')}, ${plural(totals.leaks, 'leak')}, ${spellBytes(totals.reclaimable)} reclaimable, ${plural(totals.zombies, 'zombie')}, ${plural(snapshot.findings.length, 'finding')}.`;
  const over = overlaySentences(screen);
  const footer = text(footerLine(screen));
  if (over) return [summary, ...over.filter(line => line !== '' && !/^[─-]+$/.test(line)), footer];
  const selected = selectedRow(screen);
  const place = selected
    ? `Row ${view.selectedIndex + 1} of ${rows.length}: ${rowSentence(selected, screen)}`
    : `0 recognised of ${totals.processes} processes.`;
  const detail = view.detail && selected ? detailContent(selected, screen, SENTENCE_ROWS).map(text) : [];
  const findings =
    view.focus === 'tree' || view.focus === 'findings'
      ? snapshot.findings.map(f => `${f.severity}: ${f.title}`)
      : [];
  return [summary, place, ...detail, ...findings, footer];
};
