import { environQuestions } from '../judge/rules/related.ts';
import type { Node, Tree } from '../judge/rules/tree.ts';
import { keyOf } from '../model/identity.ts';
import type { Look } from '../model/observation.ts';
import type { NamedEnv } from '../model/process.ts';
import type { System } from '../observe/system.ts';
import type { TimeSlice } from '../observe/time-slice.ts';

interface Remembered {
  readonly start: string;
  /** The argv that was current when the environment was read: an exec replaces both. */
  readonly argv: readonly string[] | null;
  readonly env: NamedEnv | null;
}

/** Reading so many takes a few milliseconds. */
const BATCH = 100;

/** Environments, read once per identity and again after an exec, and put on the tree's nodes. */
export class Environments {
  /** By pid: five thousand identity keys a look would cost more than all that is done with them. */
  readonly #known = new Map<number, Remembered>();

  async attach(tree: Tree, look: Look, system: System, breath: TimeSlice): Promise<void> {
    const questions = environQuestions(
      tree,
      look.self?.uid ?? null,
      node => this.#recall(node) !== undefined,
    );
    await breath.due();
    for (let from = 0; from < questions.length; from += BATCH) {
      await this.#ask(questions.slice(from, from + BATCH), system);
      await breath.due();
    }
    if (this.#known.size === 0) return;
    for (const node of tree.nodes) {
      const env = this.#recall(node)?.env ?? null;
      if (env !== null && node.facts.env !== env) node.facts = { ...node.facts, env };
    }
    if (this.#known.size > 2 * look.processes.length) this.#forgetEnded(look);
  }

  async #ask(questions: readonly Node[], system: System): Promise<void> {
    const answers = await system.environ(questions.map(node => node.facts));
    for (const { facts } of questions) {
      const { pid, start, argv } = facts;
      this.#known.set(pid, { start, argv, env: answers.get(keyOf(facts)) ?? null });
    }
  }

  #recall({ facts }: Node): Remembered | undefined {
    const known = this.#known.get(facts.pid);
    return known?.start === facts.start && known.argv === facts.argv ? known : undefined;
  }

  #forgetEnded(look: Look): void {
    const present = new Set(look.processes.map(p => p.pid));
    for (const pid of this.#known.keys()) if (!present.has(pid)) this.#known.delete(pid);
  }
}
