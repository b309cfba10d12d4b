/**
 * Reads keys. Ink's `useInput` is not enough here: it gives a chunk of several keys (`jjj`, `jk` and enter) as one
 * event, F-keys as nothing, a paste as typing, and it cannot say which keys arrived together. That last one is
 * what keeps a `y` that was typed ahead from confirming a plan nobody has read.
 */

/** One key, whatever chunk of bytes it arrived in. */
export interface Keystroke {
  /** A name (`up`, `enter`, `ctrl-c`, `f1`, `paste`) or the character itself. */
  readonly key: string;
  /** What it would type into a text field; empty for keys that type nothing. */
  readonly text: string;
  /** Which read of the terminal it came from: a confirming key never counts in the chunk that asked the question. */
  readonly chunk: number;
}

const ESC = '\u001b';
const PASTE_START = `${ESC}[200~`;
const PASTE_END = `${ESC}[201~`;

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

/** CSI: parameters, intermediates, one final byte; SS3: one byte; the Linux console's `[[A`. */
const SEQUENCE = /^(?:\[\[[A-E]|\[[0-?]*[ -/]*[@-~]|O[@-~])/;

/** Begins like a sequence and ends before its final byte: the rest is in the next read. */
const UNFINISHED = /^(?:|\[[0-?]*[ -/]*|O|\[\[)$/;

export interface Reading {
  readonly strokes: readonly Keystroke[];
  /** Bytes of an escape sequence that is not complete yet; prepend them to the next chunk. */
  readonly rest: string;
}

const controlName = (char: string): string => {
  const code = char.charCodeAt(0);
  return CONTROLS[char] ?? `ctrl-${String.fromCharCode(code + 96)}`;
};

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** `jjj`, `jk\r`, arrows, a lone Esc and a paste, all as single keystrokes. */
export const readKeystrokes = (input: string, chunk: number): Reading => {
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
    const char = input[at]!;
    if (char === ESC) {
      const after = input.slice(at + 1);
      if (UNFINISHED.test(after)) return { strokes, rest: input.slice(at) };
      const sequence = SEQUENCE.exec(after)?.[0];
      if (sequence === undefined) {
        // Esc typed just before another key, or Alt+key: both begin with leaving.
        strokes.push({ key: 'escape', text: '', chunk });
        at += 1;
        continue;
      }
      // An unknown sequence (mouse, focus, a modifier we do not use) is one key that nothing is bound to.
      strokes.push({ key: SEQUENCES[sequence] ?? 'unknown', text: '', chunk });
      at += 1 + sequence.length;
      continue;
    }
    if (char < ' ' || char === '\u007f') {
      strokes.push({ key: controlName(char), text: '', chunk });
      at += 1;
      continue;
    }
    const [grapheme] = segmenter.segment(input.slice(at, at + 32));
    const text = grapheme?.segment ?? char;
    strokes.push({ key: text === ' ' ? 'space' : text, text, chunk });
    at += text.length;
  }
  return { strokes, rest: '' };
};

/** A lone Esc is told from the start of a sequence by silence: sequences arrive within a few ms even over ssh. */
const ESC_SILENCE_MS = 30;
/** A paste whose end never comes must not swallow the keys after it. */
const PASTE_SILENCE_MS = 1000;

/** Turns reads of the terminal into keystrokes; keeps what a read cut in two. */
export class KeyReader {
  #chunk = 0;
  #rest = '';
  #timer: NodeJS.Timeout | null = null;
  readonly #deliver: (stroke: Keystroke) => void;

  constructor(deliver: (stroke: Keystroke) => void) {
    this.#deliver = deliver;
  }

  /** The latest read: what is shown now cannot have been seen by whoever typed it. */
  get chunk(): number {
    return this.#chunk;
  }

  push(input: string): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#chunk += 1;
    const { strokes, rest } = readKeystrokes(this.#rest + input, this.#chunk);
    this.#rest = rest;
    for (const stroke of strokes) this.#deliver(stroke);
    if (rest === '') return;
    const pasting = rest.startsWith(PASTE_START);
    this.#timer = setTimeout(() => this.#flush(), pasting ? PASTE_SILENCE_MS : ESC_SILENCE_MS);
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
  }

  #flush(): void {
    const rest = this.#rest;
    this.#rest = '';
    this.#timer = null;
    if (rest.startsWith(PASTE_START)) return;
    this.#deliver({ key: 'escape', text: '', chunk: this.#chunk });
    for (const text of rest.slice(1)) this.#deliver({ key: text, text, chunk: this.#chunk });
  }
}
