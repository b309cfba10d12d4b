/** A root once seen is watched for a day: a dead agent's marker, lock or deadlock stays a finding. */
const KEPT_SECONDS = 86_400;

/** Agents come and go in ever new worktrees; each root costs a watch. The longest unseen falls out. */
const MOST_ROOTS = 200;

/** The directories that agents have worked in, for as long as what they left there matters. */
export class SeenRoots {
  /** By path, oldest sighting first: the clock of the last one. */
  readonly #seen = new Map<string, number>();

  note(directories: readonly string[], clock: number): void {
    for (const directory of directories) {
      this.#seen.delete(directory);
      this.#seen.set(directory, clock);
    }
    for (const [directory, at] of this.#seen)
      if (clock - at > KEPT_SECONDS || this.#seen.size > MOST_ROOTS) this.#seen.delete(directory);
      else break;
  }

  get all(): readonly string[] {
    return [...this.#seen.keys()];
  }
}
