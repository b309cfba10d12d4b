/** What we, or the orchestrator, put into an archive; anything else in there is not ours to expire. */
const ARCHIVED =
  /^(?:.+_(?:stream|progress|findings)\.jsonl|deploy_.+\.json|\.agent-progress\.json)(?:\.\d+)?(?:\.archived-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z(?:\.\d+)?)?$/;

export const isArchivedName = (name: string): boolean => ARCHIVED.test(name);

/** A name that says when it was archived: neither its mtime nor a copy of it does. */
export const archivedName = (name: string, now: number): string =>
  `${name}.archived-${new Date(now).toISOString().replace(/[-:]|\.\d+/g, '')}`;

/** Epoch milliseconds; null: the name does not say, or names a time that has not come. */
export const archivedAt = (name: string, now: number): number | null => {
  const parts = ARCHIVED.exec(name)?.slice(1, 7);
  if (parts?.[0] === undefined) return null;
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts.map(Number);
  const at = Date.UTC(year, month - 1, day, hour, minute, second);
  return at <= now ? at : null;
};
