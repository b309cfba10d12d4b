export type { PlanGround } from './branches.ts';
export { type CleanRequest, planClean } from './clean.ts';
export { type EndRequest, planEnd } from './end.ts';
export { type FixRequest, planFix, whyNotFixedAgain } from './fix.ts';
export { type AskedBy, type EndPolicy, handPolicy, leakPolicy, sweepPolicy } from './policy.ts';
export { planBuilds, planDuplicates, type SiblingRequest } from './siblings.ts';
export { planSignal, type SignalRequest } from './signal.ts';
export { planZombies, type ZombieRequest } from './zombies.ts';
