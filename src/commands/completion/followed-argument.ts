import { Argument } from 'commander';

/** An argument some of whose choices want one more word: commander cannot say which, and completions must. */
export class FollowedArgument extends Argument {
  constructor(
    name: string,
    description: string,
    readonly after: Readonly<Record<string, readonly string[]>>,
  ) {
    super(name, description);
  }
}
