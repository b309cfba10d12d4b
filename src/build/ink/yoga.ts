/**
 * In place of `yoga-layout`, which is ready only after a top-level await: CommonJS has none. The same Yoga, loaded
 * beside everything else; `ready` must be awaited before Ink draws. Ink asks it nothing while it is loaded itself.
 */
import { loadYoga } from 'yoga-layout/load';

type Yoga = Awaited<ReturnType<typeof loadYoga>>;

const yoga = {} as Yoga;

export const ready: Promise<unknown> = loadYoga().then(loaded => Object.assign(yoga, loaded));

export default yoga;
