import type { Finding } from './finding.ts';
import type { Identity } from './identity.ts';
import type { SignalName } from './plan.ts';

/** What the user asks to be done; the engine answers with a plan before anything happens. */
export type ActRequest =
  | { readonly act: 'end'; readonly targets: readonly Identity[]; readonly force: boolean }
  | { readonly act: 'clean' }
  | { readonly act: 'zombies' }
  /** Whatever mends this finding. */
  | { readonly act: 'fix'; readonly finding: Finding }
  | { readonly act: 'signal'; readonly targets: readonly Identity[]; readonly signal: SignalName };
