import { createContext, useContext, useLayoutEffect } from 'react';
import type { Context, NamesIn } from './bindings.ts';
import type { Action, Input, OtherKeys } from './input.ts';

export const InputContext = createContext<Input | null>(null);

/** What each binding of a context does; the compiler asks for the missing entry. */
export type KeyActions<C extends Context> = Readonly<Record<NamesIn<C>, Action>>;

const NO_OTHERS: OtherKeys = {};

/**
 * What the keys of a context do while this component is on the screen. `actions` and `others` are tables outside of
 * the component: an action reads the store, never what was rendered, because several keys may come in one read.
 */
export const useKeys = <C extends Context>(
  context: C,
  actions: KeyActions<C>,
  others: OtherKeys = NO_OTHERS,
): void => {
  const input = useContext(InputContext);
  useLayoutEffect(() => input?.onKeys(context, { actions, ...others }), [input, context, actions, others]);
};
