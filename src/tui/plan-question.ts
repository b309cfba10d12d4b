import type { ShownAgain } from '../live/live.ts';
import type { ActRequest } from '../model/act-request.ts';
import type { Plan } from '../model/plan.ts';
import type { Controls } from './keys/action.ts';

/** Nobody answers a question sooner than this after it appeared: such a key was typed before. */
const SEEN_MS = 25;
const UNSEEN = Number.POSITIVE_INFINITY;

/** From asking for a plan to the moment in which it can have been read: then `y` is an answer to it. */
export class PlanQuestion {
  readonly #controls: Controls;

  constructor(controls: Controls) {
    this.#controls = controls;
  }

  open(request: ActRequest): void {
    const controls = this.#controls;
    const overlay = { kind: 'planning', request } as const;
    const isAwaited = (): boolean => controls.view.overlay === overlay;
    controls.dispatch({ type: 'overlay', overlay });
    controls.live.plan(request).then(
      plan => {
        if (isAwaited()) this.#show(request, plan); // else it was left meanwhile
      },
      (error: unknown) => {
        if (isAwaited()) controls.dispatch({ type: 'overlay', overlay: null });
        const why = error instanceof Error ? error.message : String(error);
        controls.notice(`The plan could not be made: ${why}`, 'bad');
      },
    );
  }

  /** The plan that was to be run is not what the user read any more. */
  showAgain(request: ActRequest, { plan, because }: ShownAgain): void {
    if (this.#controls.view.overlay?.kind === 'running') this.#show(request, plan, because);
    else this.#controls.notice(`Nothing was signalled: ${because}`);
  }

  #show(request: ActRequest, plan: Plan, changed?: string): void {
    const asked = { kind: 'plan', request, plan, openedIn: UNSEEN, typed: '', confirmed: [] } as const;
    const overlay = changed === undefined ? asked : { ...asked, changed };
    this.#controls.dispatch({ type: 'overlay', overlay });
    // After the timer one more turn of the loop, so that keys which waited in the terminal meanwhile are read first.
    setTimeout(() => setImmediate(() => this.#seen(plan)), SEEN_MS);
  }

  /** From the next read of the keyboard on, `y` may be an answer to this plan. */
  #seen(plan: Plan): void {
    const { overlay } = this.#controls.view;
    if (overlay?.kind !== 'plan' || overlay.plan !== plan) return;
    this.#controls.clicks.shown();
    this.#controls.dispatch({ type: 'overlay', overlay: { ...overlay, openedIn: this.#controls.chunk } });
  }
}
