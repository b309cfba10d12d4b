import stringWidth from 'string-width';
import { BoundedCache } from './bounded-cache.ts';
import { narrowWidth } from './segment.ts';

const WIDTHS = 1000;
const widths = new BoundedCache<number>(WIDTHS);

/**
 * In place of `widest-line`, which Ink asks for every text in every frame: plain lines are counted, and what
 * `string-width` has measured is remembered.
 */
const widthOf = (line: string): number => narrowWidth(line) ?? widths.get(line, stringWidth);

const widestLine = (text: string): number =>
  text.includes('\n') ? Math.max(...text.split('\n').map(widthOf)) : widthOf(text);

export default widestLine;
