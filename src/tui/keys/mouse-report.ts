/** What the mouse did, where: columns and rows count from 0. */
export interface MouseReport {
  readonly what: 'press' | 'wheel-up' | 'wheel-down';
  readonly column: number;
  readonly row: number;
}

/** `[<button;column;rowM`, the form that mode 1006 asks for; a release ends in `m`. */
const SGR = /^\[<(\d{1,4});(\d{1,5});(\d{1,5})M$/;

/** Buttons as xterm counts them: 0 left, 64 and 65 the wheel; 4, 8 and 16 are Shift, Meta and Ctrl. */
const LEFT = 0;
const WHEEL_UP = 64;
const WHEEL_DOWN = 65;
const MODIFIERS = 4 | 8 | 16;

const whatOf = (button: number): MouseReport['what'] | null => {
  // A click with a modifier is meant for the terminal or for the window manager.
  if (button === LEFT) return 'press';
  const plain = button & ~MODIFIERS;
  if (plain === WHEEL_UP) return 'wheel-up';
  return plain === WHEEL_DOWN ? 'wheel-down' : null;
};

/** Null for a release, a move, another button, and for what is no report of the mouse. */
export const mouseReport = (sequence: string): MouseReport | null => {
  const found = SGR.exec(sequence);
  const what = found && whatOf(Number(found[1]));
  if (!what) return null;
  return { what, column: Number(found[2]) - 1, row: Number(found[3]) - 1 };
};

/** The form of terminals that do not know 1006: three bytes follow, any of which may look like a key, `y` for one. */
export const OLD_REPORT = '[M';
export const OLD_REPORT_LENGTH = OLD_REPORT.length + 3;
