import { type PreparedKnowledge, prepareKnowledge, recognise } from '../judge/recognise/recognise.ts';
import type { UserRecogniser } from '../model/config.ts';
import type { Recognition } from '../model/kind.ts';
import type { ConfiguredServer } from '../model/observation.ts';
import type { ProcessFacts } from '../model/process.ts';

interface Remembered {
  readonly comm: string;
  readonly exe: string | null;
  readonly seen: Recognition;
}

/** Recognition with a memory: a process says the same about itself until it execs, and most never do. */
export class RecognitionCache {
  readonly #recognisers: readonly UserRecogniser[];
  #servers: readonly ConfiguredServer[] = [];
  #knowledge: PreparedKnowledge;
  /** By argv, which stays the same object until an exec, and which equal neighbours share. */
  #known = new WeakMap<readonly string[], Remembered>();

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
    this.#known = new WeakMap();
    return true;
  }

  get servers(): readonly ConfiguredServer[] {
    return this.#servers;
  }

  readonly recognise = (facts: ProcessFacts): Recognition => {
    const { argv, comm, exe } = facts;
    if (argv === null) return recognise(facts, this.#knowledge);
    const known = this.#known.get(argv);
    if (known !== undefined && known.comm === comm && known.exe === exe) return known.seen;
    const seen = recognise(facts, this.#knowledge);
    this.#known.set(argv, { comm, exe, seen });
    return seen;
  };
}
