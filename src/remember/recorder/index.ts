export type { Frame } from './lines.ts';
export type { Asked } from './moment.ts';
export { GAP_MS, openMoment } from './open-moment.ts';
export { Recording } from './recording.ts';
export { snapshotOf } from './snapshot-of.ts';
