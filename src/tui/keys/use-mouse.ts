import type { DOMElement } from 'ink';
import { type RefObject, useContext, useLayoutEffect, useRef } from 'react';
import type { Store } from '../store.ts';
import { clickAt, entryOf, type Runs } from '../ui/runs.ts';
import type { MouseHandlers, Press, TypeKey } from './input.ts';
import { InputContext } from './use-keys.ts';

/** What the mouse does on an element: give its ref to a `<Box>`. Of elements in one another the innermost answers. */
export const useMouse = (handlers: MouseHandlers): RefObject<DOMElement | null> => {
  const input = useContext(InputContext);
  const ref = useRef<DOMElement>(null);
  useLayoutEffect(() => {
    const element = ref.current;
    return element && input ? input.onMouse(element, handlers) : undefined;
  });
  return ref;
};

/** What a click on an entry of a list does. */
export type SelectEntry = (store: Store, entry: number, press: Press, type: TypeKey) => void;

/** The key that runs a plan is typed only by a single click, long after the plan appeared. */
export const clickLine = (
  runs: Runs,
  store: Store,
  press: Press,
  type: TypeKey,
  onEntry: SelectEntry | undefined,
): void => {
  const { overlay, focus } = store.view;
  const clicked = clickAt(runs, press.column);
  const entry = entryOf(runs);
  if (clicked && 'key' in clicked) {
    if (overlay?.kind === 'plan' && clicked.key === 'y' && press.hurried)
      store.notice('Too early: read the plan, then click once.');
    else type(clicked.key);
  } else if (clicked && 'panel' in clicked)
    store.dispatch({ type: 'focus', focus: focus === clicked.panel ? 'tree' : clicked.panel });
  else if (clicked && 'go' in clicked) clicked.go(store);
  else if (entry !== null) onEntry?.(store, entry, press, type);
};
