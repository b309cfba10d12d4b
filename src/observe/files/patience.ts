/** Asked between two steps of long work: is there time for one more? */
export type Patience = () => boolean;

/** Looking at the clock costs more than most steps. */
const STEPS_PER_LOOK = 16;

const wallMs = (): number => Number(process.hrtime.bigint()) / 1e6;

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/**
 * Patience for so many milliseconds. Our own work is what a repository can make long; waiting for a busy
 * machine or a cold disk is forgiven for longer.
 */
export const patienceFor = (limit: { readonly cpu: number; readonly wall: number }): Patience => {
  const began = wallMs();
  const working = cpuMs() + limit.cpu;
  let steps = 0;
  let left = true;
  return () => {
    if (!left || ++steps % STEPS_PER_LOOK !== 0) return left;
    const passed = wallMs() - began;
    // Nobody works for longer than time has passed: the dearer clock is asked only then.
    if (passed >= limit.cpu) left = passed < limit.wall && cpuMs() < working;
    return left;
  };
};
