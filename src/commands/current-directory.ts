/** Where we were started; `/`, in which nothing is looked for unasked, when that directory is gone by now. */
export const currentDirectory = (): string => {
  try {
    return process.cwd();
  } catch {
    return '/'; // removed under our feet, as the work tree of a finished agent is
  }
};
