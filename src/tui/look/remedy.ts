import type { Finding } from '../../model/finding.ts';

/** What mends a finding, in keys: whoever has this screen needs no command. */
export const remedyInKeys = ({ remedy, action }: Finding): string =>
  action === null ? remedy : `f: ${remedy}`;
