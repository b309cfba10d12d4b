export type { PlanGround } from './branches.ts';
export { planClean } from './clean.ts';
export { planEnd } from './end.ts';

export { type AskedBy, type EndPolicy, handPolicy, leakPolicy, sweepPolicy } from './policy.ts';
export { planBuilds, planDuplicates } from './siblings.ts';
export { planSignal } from './signal.ts';
export { planZombies } from './zombies.ts';
