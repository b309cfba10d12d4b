export { loadRecorded, MOST_BYTES } from './load.ts';
export { readRecorded } from './read.ts';
export { recordedSystem } from './system.ts';
