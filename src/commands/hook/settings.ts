/** One chunk for what edits and shows settings. */
export { installHooks, uninstallHooks } from './install.ts';
export { hookStatus } from './status.ts';
