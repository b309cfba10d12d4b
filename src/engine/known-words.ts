import { type PreparedKnowledge, prepareKnowledge, recognise } from '../judge/recognise.ts';
import type { UserRecogniser } from '../model/config.ts';
import type { Recognition } from '../model/kind.ts';
import type { ProcessFacts } from '../model/process.ts';
import type { ConfiguredServer } from '../model/snapshot.ts';

interface Remembered {
  readonly argv: readonly string[] | null;
  readonly comm: string;
  readonly seen: Recognition;
}

/** Recognition with a memory: a process says the same about itself until it execs, and most never do. */
export class KnownWords {
  readonly #recognisers: readonly UserRecogniser[];
  #servers: readonly ConfiguredServer[] = [];
  #knowledge: PreparedKnowledge;
  #known = new Map<number, Remembered>();

  constructor(recognisers: readonly UserRecogniser[]) {
    this.#recognisers = recognisers;
    this.#knowledge = prepareKnowledge({ recognisers, servers: [] });
  }

  /** True when the configured servers are others than before: everything must be recognised again. */
  learn(servers: readonly ConfiguredServer[]): boolean {
    if (
      servers.length === this.#servers.length &&
      servers.every((server, index) => server === this.#servers[index])
    )
      return false;
    this.#servers = servers;
    this.#knowledge = prepareKnowledge({ recognisers: this.#recognisers, servers });
    this.#known.clear();
    return true;
  }

  get servers(): readonly ConfiguredServer[] {
    return this.#servers;
  }

  /** A recogniser for one look; whoever is not asked about in it is forgotten. */
  forOneLook(): (facts: ProcessFacts) => Recognition {
    const before = this.#known;
    const now = new Map<number, Remembered>();
    this.#known = now;
    return facts => {
      const { pid, argv, comm } = facts;
      const known = before.get(pid);
      const same = known !== undefined && known.argv === argv && known.comm === comm;
      const remembered = same ? known : { argv, comm, seen: recognise(facts, this.#knowledge) };
      now.set(pid, remembered);
      return remembered.seen;
    };
  }
}
