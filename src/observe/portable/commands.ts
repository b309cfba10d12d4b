/** The words of one process, from ps-list. */
export interface Command {
  readonly name: string;
  readonly command: string;
  readonly exe: string | null;
  readonly startedAt: number | null;
}

/** Names and command lines by pid. Loaded on need: ps-list is an ES module that nothing else wants. */
export const listCommands = async (): Promise<ReadonlyMap<number, Command>> => {
  const { default: psList } = await import('ps-list');
  const listed = await psList();
  return new Map(
    listed.map(p => [
      p.pid,
      {
        name: p.name,
        command: p.cmd ?? '',
        exe: p.path === undefined || p.path === '' ? null : p.path,
        startedAt: p.startTime === undefined ? null : p.startTime.getTime() / 1000,
      },
    ]),
  );
};

/**
 * Do two calls of ps speak of the same process? ps-list reads local time, so whole hours may lie between
 * them when clocks change; seconds may, where ps derives the start from the uptime.
 */
export const sameBirth = (command: Command, start: string): boolean => {
  if (command.startedAt === null) return true;
  const apart = Math.abs(command.startedAt - Number(start));
  return apart <= 2 || Math.abs(apart - 3600) <= 2;
};
