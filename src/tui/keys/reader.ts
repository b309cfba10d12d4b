/**
 * Reads keys. Ink's `useInput` is not enough here: it gives a chunk of several keys (`jjj`, `jk` and enter) as one
 * event, F-keys as nothing, a paste as typing, and it cannot say which keys arrived together. That last one is
 * what keeps a `y` that was typed ahead from confirming a plan nobody has read.
 */

/** One key, whatever chunk of bytes it arrived in. */
export interface Keystroke {
  /** A name (`up`, `enter`, `ctrl-c`, `f1`, `paste`, `mouse`, `reply`) or the character itself. */
  readonly key: string;
  /** What it would type into a text field; empty for keys that type nothing. */
  readonly text: string;
  /** Which read of the terminal it came from: a confirming key never counts in the chunk that asked the question. */
  readonly chunk: number;
  /** Of the key `mouse`. */
  readonly mouse?: MouseReport;
}

const ESC = '\u001b';
const PASTE_START = `${ESC}[200~`;
const PASTE_END = `${ESC}[201~`;

/** CSI: parameters, intermediates, one final byte; SS3: one byte; the Linux console's `[[A`. */
const SEQUENCE = /^(?:\[\[[A-E]|\[[0-?]*[ -/]*[@-~]|O[@-~])/;

/** Begins like a sequence and ends before its final byte: the rest is in the next read. */
const UNFINISHED = /^(?:|\[[0-?]*[ -/]*|O|\[\[|\]\d*(?:;[^\u0007\u001b]*\u001b?)?)$/;

/** OSC: what the terminal answers when it is asked for its colours. It ends in BEL, or in Esc and a backslash. */
const REPLY = /^\](\d+;[^\u0007\u001b]*)(?:\u0007|\u001b\\)/;

/** What only a terminal sends: cut off, it is thrown away; its letters are not keys. */
const NO_KEYBOARD = /^\u001b(?:\[200~|\[<|\[M|\]\d+;)/;

export interface KeyReading {
  readonly strokes: readonly Keystroke[];
  /** Bytes of an escape sequence that is not complete yet; prepend them to the next chunk. */
  readonly rest: string;
}

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

interface Piece {
  readonly stroke: Keystroke;
  readonly length: number;
}

/** What an Esc begins, with the text after it; null when its end is in the next read. */
const escapedPiece = (after: string, chunk: number): Piece | null => {
  const piece = (key: string, length: number, rest: Partial<Keystroke> = {}): Piece => ({
    stroke: { key, text: '', chunk, ...rest },
    length: 1 + length,
  });
  if (UNFINISHED.test(after)) return null;
  if (after.startsWith(OLD_REPORT))
    return after.length < OLD_REPORT_LENGTH ? null : piece('unknown', OLD_REPORT_LENGTH);
  const reply = REPLY.exec(after);
  if (reply) return piece('reply', reply[0].length, { text: reply[1]! });
  const sequence = SEQUENCE.exec(after)?.[0];
  // Esc typed just before another key, or Alt+key: both begin with leaving.
  if (sequence === undefined) return piece('escape', 0);
  const mouse = mouseReport(sequence);
  if (mouse) return piece('mouse', sequence.length, { mouse });
  // An unknown sequence (focus, a modifier we do not use) is one key that nothing is bound to.
  return piece(SEQUENCES[sequence] ?? 'unknown', sequence.length);
};

/** A key that types a character, or a control character. */
const plainPiece = (input: string, chunk: number): Piece => {
  const char = input[0]!;
  if (char < ' ' || char === '\u007f')
    return { stroke: { key: controlName(char), text: '', chunk }, length: 1 };
  // Two of ASCII never are one character, and making a segmenter takes 11 ms.
  const isPlain = char <= '~' && (input[1] ?? '') <= '~';
  const text = isPlain ? char : ([...segmenter.segment(input)][0]?.segment ?? char);
  return { stroke: { key: text === ' ' ? 'space' : text, text, chunk }, length: text.length };
};

/** `jjj`, `jk\r`, arrows, a lone Esc, the mouse and a paste, all as single keystrokes. */
export const readKeystrokes = (input: string, chunk: number): KeyReading => {
  const strokes: Keystroke[] = [];
  let at = 0;
  while (at < input.length) {
    if (input.startsWith(PASTE_START, at)) {
      const end = input.indexOf(PASTE_END, at);
      if (end < 0) return { strokes, rest: input.slice(at) };
      strokes.push({ key: 'paste', text: input.slice(at + PASTE_START.length, end), chunk });
      at = end + PASTE_END.length;
      continue;
    }
    const piece =
      input[at] === ESC
        ? escapedPiece(input.slice(at + 1), chunk)
        : plainPiece(input.slice(at, at + 32), chunk);
    if (piece === null) return { strokes, rest: input.slice(at) };
    strokes.push(piece.stroke);
    at += piece.length;
  }
  return { strokes, rest: '' };
};

/** A lone Esc is distinguished from the start of a sequence by silence: sequences arrive within a few ms even over ssh. */
const ESC_SILENCE_MS = 30;
/** A paste or a report whose end never comes must not swallow the keys after it. */
const UNENDED_SILENCE_MS = 1000;

/** Turns reads of the terminal into keystrokes; keeps what a read cut in two. */
export class KeyReader {
  #chunk = 0;
  #rest = '';
  #timer: NodeJS.Timeout | null = null;
  readonly #deliver: (stroke: Keystroke) => void;

  constructor(deliver: (stroke: Keystroke) => void) {
    this.#deliver = deliver;
  }

  push(input: string): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#chunk += 1;
    const { strokes, rest } = readKeystrokes(this.#rest + input, this.#chunk);
    this.#rest = rest;
    for (const stroke of strokes) this.#deliver(stroke);
    if (rest === '') return;
    const silence = NO_KEYBOARD.test(rest) ? UNENDED_SILENCE_MS : ESC_SILENCE_MS;
    this.#timer = setTimeout(() => this.#flush(), silence);
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
  }

  #flush(): void {
    const rest = this.#rest;
    this.#rest = '';
    this.#timer = null;
    if (NO_KEYBOARD.test(rest)) return;
    this.#deliver({ key: 'escape', text: '', chunk: this.#chunk });
    for (const text of rest.slice(1)) this.#deliver({ key: text, text, chunk: this.#chunk });
  }
}

/** CSI and SS3 endings, as xterm, tmux, rxvt and the Linux console send them. */
const SEQUENCES: Readonly<Record<string, string>> = {
  '[A': 'up',
  '[B': 'down',
  '[C': 'right',
  '[D': 'left',
  OA: 'up',
  OB: 'down',
  OC: 'right',
  OD: 'left',
  '[H': 'home',
  '[F': 'end',
  OH: 'home',
  OF: 'end',
  '[1~': 'home',
  '[4~': 'end',
  '[7~': 'home',
  '[8~': 'end',
  '[2~': 'insert',
  '[3~': 'delete',
  '[5~': 'pageup',
  '[6~': 'pagedown',
  '[Z': 'shift-tab',
  OP: 'f1',
  OQ: 'f2',
  OR: 'f3',
  OS: 'f4',
  '[[A': 'f1',
  '[11~': 'f1',
  '[12~': 'f2',
  '[13~': 'f3',
  '[14~': 'f4',
  '[15~': 'f5',
  '[17~': 'f6',
  '[18~': 'f7',
  '[19~': 'f8',
  '[20~': 'f9',
  '[21~': 'f10',
};

const CONTROLS: Readonly<Record<string, string>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\t': 'tab',
  '\b': 'backspace',
  '\u007f': 'backspace',
};

/** The key that a control character comes from. */
const controlName = (char: string): string => {
  const code = char.charCodeAt(0);
  return CONTROLS[char] ?? `ctrl-${String.fromCharCode(code + 96)}`;
};

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

/** Null for a release, a move, another button, and for what is not a mouse report. */
export const mouseReport = (sequence: string): MouseReport | null => {
  const found = SGR.exec(sequence);
  const what = found && whatOf(Number(found[1]));
  if (!what) return null;
  return { what, column: Number(found[2]) - 1, row: Number(found[3]) - 1 };
};

/** The form of terminals that do not know 1006: three bytes follow, any of which may look like a key, `y` for one. */
const OLD_REPORT = '[M';
const OLD_REPORT_LENGTH = OLD_REPORT.length + 3;

/** Two presses on one cell within this are a double click; what follows a click sooner was not decided upon. */
export const DOUBLE_MS = 500;

/** Tells double clicks, and clicks that come too soon to be an answer. */
export class Clicks {
  readonly #now: () => number;
  #last: { readonly at: number; readonly column: number; readonly row: number } | null = null;
  #quietSince = Number.NEGATIVE_INFINITY;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Something new is on the screen: who clicks at once has not read it. */
  shown(): void {
    this.#quietSince = this.#now();
  }

  /** `double`: the second of two on one cell. `hurried`: sooner after another click, or after what it answers, than anybody reads. */
  note({ column, row }: MouseReport): { readonly double: boolean; readonly hurried: boolean } {
    const at = this.#now();
    const last = this.#last;
    const soon = last !== null && at - last.at < DOUBLE_MS;
    const double = soon && last.column === column && last.row === row;
    this.#last = { at, column, row };
    return { double, hurried: soon || at - this.#quietSince < DOUBLE_MS };
  }
}
