import type { DOMElement } from 'ink';
import { keyName } from '../help/key-names.ts';
import type { Store } from '../store.ts';
import { type BindingName, bindingFor, type Context, contextOf } from './bindings.ts';
import type { Keystroke, MouseReport } from './reader.ts';

/** What a key does. */
export type Action = (store: Store, stroke: Keystroke) => void;

export interface OtherKeys {
  /** What a key that nothing is bound to does, or one that cannot act now; default: nothing. */
  readonly otherwise?: Action;
  /** What a paste does; default: it is refused. */
  readonly paste?: Action;
}

export interface ContextKeys extends OtherKeys {
  readonly actions: Partial<Readonly<Record<BindingName, Action>>>;
}

/** Types a key of the table in place of the hand. */
export type TypeKey = (key: string) => void;

/** A press of the left button; columns and rows count from the top left cell of the element. */
export interface Press {
  readonly column: number;
  readonly row: number;
  /** The second of two on one cell. */
  readonly double: boolean;
  /** Sooner after another click, or after what it answers, than anybody reads. */
  readonly hurried: boolean;
}

export interface MouseHandlers {
  readonly press?: (store: Store, press: Press, type: TypeKey) => void;
  /** `by`: rows, negative upwards. */
  readonly wheel?: (store: Store, by: number, type: TypeKey) => void;
}

/** The cell relative to the element; null: it is not on it, or the element is cut off there by one around it. */
const cellOn = (
  element: DOMElement,
  column: number,
  row: number,
): { readonly column: number; readonly row: number; readonly depth: number } | null => {
  const chain: DOMElement[] = [];
  for (let up: DOMElement | undefined = element; up; up = up.parentNode) chain.push(up);
  const at = { column, row };
  for (const { yogaNode } of chain.reverse()) {
    if (!yogaNode) return null;
    at.column -= yogaNode.getComputedLeft();
    at.row -= yogaNode.getComputedTop();
    if (at.column < 0 || at.column >= yogaNode.getComputedWidth()) return null;
    if (at.row < 0 || at.row >= yogaNode.getComputedHeight()) return null;
  }
  return { ...at, depth: chain.length };
};

/** Rows of one notch of the wheel. */
const NOTCH = 3;

/** Keys that work wherever we are. */
const ANYWHERE: Readonly<Record<string, Action>> = {
  'ctrl-c': store => store.terminal.quit(130),
  'ctrl-z': store => store.terminal.suspend(),
};

/** Gives keys and the mouse to the components that are on the screen: `useKeys` and `useMouse` register there. */
export class Input {
  readonly #store: Store;
  readonly #contexts = new Map<Context, ContextKeys>();
  readonly #areas = new Map<DOMElement, MouseHandlers>();
  /** Keys for a component that React has not put on the screen yet: several may come in one read. */
  readonly #early: Keystroke[] = [];
  /** Keys without a meaning that the user was told of: once is enough. */
  readonly #unknown = new Set<string>();

  constructor(store: Store) {
    this.#store = store;
  }

  onKeys(context: Context, keys: ContextKeys): () => void {
    this.#contexts.set(context, keys);
    this.#catchUp();
    return () => {
      if (this.#contexts.get(context) === keys) this.#contexts.delete(context);
    };
  }

  onMouse(element: DOMElement, handlers: MouseHandlers): () => void {
    this.#areas.set(element, handlers);
    return () => this.#areas.delete(element);
  }

  key(stroke: Keystroke): void {
    const store = this.#store;
    store.chunk = stroke.chunk;
    const anywhere = ANYWHERE[stroke.key];
    if (anywhere) {
      anywhere(store, stroke);
      return;
    }
    // A focus event or a moved mouse is not a decision.
    if (stroke.key === 'unknown' || stroke.key === 'reply') return;
    this.#early.push(stroke);
    this.#catchUp();
  }

  #catchUp(): void {
    for (;;) {
      const keys = this.#contexts.get(contextOf(this.#store.view));
      const next = keys && this.#early.shift();
      if (!next) return;
      if (next.mouse) this.#mouse(next.mouse, next.chunk);
      else this.#press(next, keys);
    }
  }

  #press(stroke: Keystroke, { actions, otherwise, paste }: ContextKeys): void {
    const store = this.#store;
    if (store.view.notice) store.dispatch({ type: 'notice', notice: null });
    if (stroke.key === 'paste') {
      if (paste) paste(store, stroke);
      else store.notice('Pasted text is not read as keys. Press / first to filter by it.');
      return;
    }
    const binding = bindingFor(store.view, stroke.key);
    if (!binding) {
      if (otherwise) otherwise(store, stroke);
      else if (!this.#unknown.has(stroke.key)) {
        this.#unknown.add(stroke.key);
        store.notice(`${keyName(stroke.key)} does nothing here; ? shows the keys.`, 'plain');
      }
      return;
    }
    const reason = binding.disabledReason?.(store.keyContext) ?? null;
    if (reason === null) actions[binding.name]?.(store, stroke);
    else if (otherwise) otherwise(store, stroke);
    else store.notice(reason);
  }

  /** What the mouse does is what a key would do where it points: nothing more, and a plan comes first as always. */
  #mouse({ what, column, row }: MouseReport, chunk: number): void {
    const store = this.#store;
    const type: TypeKey = key => {
      this.#early.unshift({ key, text: '', chunk });
      this.#catchUp();
    };
    // Where things stood when the user aimed, whatever this click changes.
    const targets = [...this.#areas]
      .flatMap(([element, handlers]) => {
        const cell = cellOn(element, column, row);
        return cell ? [{ cell, handlers }] : [];
      })
      .sort((a, b) => b.cell.depth - a.cell.depth);
    if (what !== 'press') {
      const scrolled = targets.find(({ handlers }) => handlers.wheel);
      scrolled?.handlers.wheel?.(store, what === 'wheel-up' ? -NOTCH : NOTCH, type);
      return;
    }
    const clicked = store.clicks.note({ what, column, row });
    if (store.view.notice) store.dispatch({ type: 'notice', notice: null });
    const pressed = targets.find(({ handlers }) => handlers.press);
    pressed?.handlers.press?.(store, { ...pressed.cell, ...clicked }, type);
  }
}
