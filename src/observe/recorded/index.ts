export { loadRecorded, MOST_BYTES } from './load.ts';
export { type ReadOptions, readRecorded } from './read.ts';
export { recordedSystem } from './system.ts';
export type { Reading, RecordedTable } from './table.ts';
