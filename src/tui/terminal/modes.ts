import { writeSync } from 'node:fs';

const ESC = '\u001b[';

/**
 * Alternate screen, hidden cursor, no wrapping at the right edge (a row that turns out wider than the terminal
 * thinks must not push the next one down), pastes announced so that they are never taken for keys.
 */
const ENTER = `${ESC}?1049h${ESC}?25l${ESC}?7l${ESC}?2004h${ESC}H${ESC}2J`;

/** Presses and the wheel (1000), as `ESC [ < button ; column ; row` (1006): the older form cannot be distinguished from keys. */
const MOUSE_ON = `${ESC}?1000h${ESC}?1006h`;
const MOUSE_OFF = `${ESC}?1006l${ESC}?1000l`;

/**
 * Ends a half-written synchronised update first, else the terminal would go on holding its breath. Wipes our screen
 * before it goes: a tmux pane that grew meanwhile keeps the rows it grew by on the other one (seen in 3.3a).
 */
const LEAVE = `${ESC}?2026l${MOUSE_OFF}${ESC}?2004l${ESC}?7h${ESC}0m${ESC}H${ESC}2J${ESC}?25h${ESC}?1049l`;

/** The terminal's state while we have it; giving it back works from an exit hook and twice in a row. */
export class TerminalModes {
  readonly #stdout: NodeJS.WriteStream;
  #mouse: boolean;
  #entered = false;

  constructor(stdout: NodeJS.WriteStream, { mouse }: { readonly mouse: boolean }) {
    this.#stdout = stdout;
    this.#mouse = mouse;
  }

  enter(): void {
    if (this.#entered) return;
    this.#entered = true;
    this.#write(this.#mouse ? ENTER + MOUSE_ON : ENTER);
  }

  leave(): void {
    if (!this.#entered) return;
    this.#entered = false;
    this.#write(LEAVE);
  }

  /** Without the mouse the terminal selects text with it, as it does elsewhere. */
  setMouse(mouse: boolean): void {
    if (mouse === this.#mouse) return;
    this.#mouse = mouse;
    if (this.#entered) this.#write(mouse ? MOUSE_ON : MOUSE_OFF);
  }

  /** A question to the terminal: its answer comes as keys do. */
  ask(question: string): void {
    this.#write(question);
  }

  /** To the terminal's clipboard, where it lets us (OSC 52). */
  copy(text: string): void {
    this.#write(`\u001b]52;c;${Buffer.from(text).toString('base64')}\u0007`);
  }

  ring(): void {
    if (this.#entered) this.#write('\u0007');
  }

  /** Straight to the descriptor: a stream's buffer is not written after `exit`. */
  #write(text: string): void {
    const { fd } = this.#stdout as { fd?: number };
    if (typeof fd !== 'number') {
      this.#stdout.write(text);
      return;
    }
    try {
      writeSync(fd, text);
    } catch {
      // The terminal is gone (EIO after a hang-up) or full (EAGAIN): there is nothing to restore.
    }
  }
}
