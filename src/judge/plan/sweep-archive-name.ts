import { FORMATS } from '../../agents/files/formats.ts';
import { parseIso } from '../../model/time.ts';

/** A rule for names as part of a pattern. */
const sourceOf = (rule: string | RegExp): string =>
  typeof rule === 'string'
    ? rule.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    : rule.source.replace(/^\^|\$$/g, '');

const NAMES = [
  ...new Set(
    Object.values(FORMATS)
      .filter(({ swept }) => swept === 'archive')
      .flatMap(({ lies }) => lies.map(([, rule]) => sourceOf(rule))),
  ),
].join('|');

/** What we, or the orchestrator, put into an archive; anything else in there is not ours to expire. */
const ARCHIVED = new RegExp(`^(?:${NAMES})(?:\\.\\d+)?(?:\\.archived-(?<time>\\d{8}T\\d{6}Z)(?:\\.\\d+)?)?$`);

export const isArchivedName = (name: string): boolean => ARCHIVED.test(name);

/** A name that says when it was archived: neither its mtime nor a copy of it does. */
export const archivedName = (name: string, now: number): string =>
  `${name}.archived-${new Date(now).toISOString().replace(/[-:]|\.\d+/g, '')}`;

/** Epoch milliseconds; null: the name does not say, or names a time that has not come. */
export const archivedAt = (name: string, now: number): number | null => {
  const time = ARCHIVED.exec(name)?.groups?.time;
  const at = time === undefined ? null : parseIso(time);
  return at !== null && at <= now ? at : null;
};
