import type { ChangedPlan } from '../../engine/live-state.ts';
import type { ActRequest, Plan } from '../../model/plan.ts';
import type { Store } from '../store.ts';

/** From asking for a plan to the moment in which it can have been read: then `y` is an answer to it. */

/** Nobody answers a question sooner than this after it appeared: such a key was typed before. */
const SEEN_MS = 25;
const UNSEEN = Number.POSITIVE_INFINITY;

/** Asks the engine for a plan and shows it; nothing is signalled until it is confirmed. */
export const openPlan = (store: Store, request: ActRequest): void => {
  const overlay = { kind: 'planning', request } as const;
  const isAwaited = (): boolean => store.view.overlay === overlay;
  store.dispatch({ type: 'overlay', overlay });
  store.live.plan(request).then(
    plan => {
      if (isAwaited()) show(store, request, plan); // else it was left meanwhile
    },
    (error: unknown) => {
      if (isAwaited()) store.dispatch({ type: 'overlay', overlay: null });
      const why = error instanceof Error ? error.message : String(error);
      store.notice(`The plan could not be made: ${why}`, 'bad');
    },
  );
};

/** Shows a plan a second time: it is no longer what the user read. */
export const showAgain = (store: Store, request: ActRequest, { plan, because }: ChangedPlan): void => {
  if (store.view.overlay?.kind === 'running') show(store, request, plan, because);
  else store.notice(`Nothing was signalled: ${because}`);
};

const show = (store: Store, request: ActRequest, plan: Plan, changed?: string): void => {
  const asked = { kind: 'plan', request, plan, openedIn: UNSEEN, typed: '', confirmed: [] } as const;
  const overlay = changed === undefined ? asked : { ...asked, changed };
  store.dispatch({ type: 'overlay', overlay });
  // After the timer one more turn of the loop, so that keys which waited in the terminal meanwhile are read first.
  setTimeout(() => setImmediate(() => seen(store, plan)), SEEN_MS);
};

/** From the next read of the keyboard on, `y` may be an answer to this plan. */
const seen = (store: Store, plan: Plan): void => {
  const { overlay } = store.view;
  if (overlay?.kind !== 'plan' || overlay.plan !== plan) return;
  store.clicks.shown();
  store.dispatch({ type: 'overlay', overlay: { ...overlay, openedIn: store.chunk } });
};
