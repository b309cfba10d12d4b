import type { Finding } from '../../model/finding.ts';

/** `reaptop clean --zombie-parents`, as a finding names it to whoever reads it in text. */
const COMMAND = '`?reaptop (?:clean|sweep)(?: --[a-z-]+)*`?';
const AT_END = new RegExp(`(?::|,)? \\(?${COMMAND}\\)?`);

/** What mends a finding, in keys: whoever has this screen needs no command. */
export const remedyInKeys = ({ remedy, action }: Finding): string =>
  action === null ? remedy.replace(new RegExp(COMMAND), 'f') : `f: ${remedy.replace(AT_END, '')}`;
