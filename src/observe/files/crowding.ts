import { visible } from '../../model/text.ts';

/** More than anyone has; a root that has more is probably a mistake. */
const MOST_DIRECTORIES = 20_000;
const MOST_FILES = 30_000;

/** Counts what is followed, refuses what is too much, and says so once. */
export class Crowding {
  files = 0;
  #refused: string | null = null;

  hasRoomForDirectory(known: number, root: string): boolean {
    return known < MOST_DIRECTORIES || this.refuse(root);
  }

  hasRoomForFile(root: string): boolean {
    return this.files < MOST_FILES || this.refuse(root);
  }

  /** Something in there is left out. */
  refuse(place: string): false {
    this.#refused ??= place;
    return false;
  }

  warnings(): string[] {
    if (this.#refused === null) return [];
    return [
      `${visible(this.#refused)}: too many directories or files with heartbeats; the rest is not read.`,
    ];
  }
}
