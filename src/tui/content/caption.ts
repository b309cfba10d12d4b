import { beatText } from '../../words/heartbeat.ts';
import { beatTone, doing } from '../view/activity.ts';
import { type Line, lineToWidth, run } from '../view/line.ts';
import { type Screen, selectedRow } from '../view/screen.ts';

/** Why the selected process is judged as it is, or what it is doing: the row of the tree has no room for that. */
export const captionLine = (screen: Screen): Line => {
  const { layout, glyphs } = screen;
  const row = selectedRow(screen);
  const p = row?.process;
  const telling: Line = !row
    ? []
    : !p || row.gone
      ? [run(row.gone ? doing(row).text : (row.group?.note ?? ''), 'faint')]
      : row.beat
        ? [run(beatText(row.beat), beatTone(row.beat))]
        : [run(`${p.verdict}: `, p.verdict), run(p.why.join('; '), 'faint')];
  return lineToWidth([run('  '), ...telling], layout.columns, glyphs.ellipsis);
};
