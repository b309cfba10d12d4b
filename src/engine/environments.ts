import { environQuestions } from '../judge/related.ts';
import type { Tree } from '../judge/tree.ts';
import { type IdentityKey, keyOf } from '../model/identity.ts';
import type { NamedEnv } from '../model/process.ts';
import type { System } from '../observe/system.ts';

interface Remembered {
  /** The argv that was current when the environment was read: an exec replaces both. */
  readonly argv: readonly string[] | null;
  readonly env: NamedEnv | null;
}

/** Environments, read once per identity and again after an exec, and put on the tree's nodes. */
export class Environments {
  readonly #known = new Map<IdentityKey, Remembered>();

  async attach(tree: Tree, uid: number | null, system: System): Promise<void> {
    const questions = environQuestions(
      tree,
      uid,
      node => this.#known.get(keyOf(node.facts))?.argv === node.facts.argv,
    );
    if (questions.length > 0) {
      const answers = await system.environ(questions.map(node => node.facts));
      for (const node of questions) {
        const key = keyOf(node.facts);
        this.#known.set(key, { argv: node.facts.argv, env: answers.get(key) ?? null });
      }
    }
    if (this.#known.size === 0) return;
    let used = 0;
    for (const node of tree.nodes) {
      const known = this.#known.get(keyOf(node.facts));
      if (known === undefined) continue;
      used += 1;
      if (known.env !== null && node.facts.env !== known.env) node.facts = { ...node.facts, env: known.env };
    }
    if (this.#known.size > 2 * used + 64) this.#forgetEnded(tree);
  }

  #forgetEnded(tree: Tree): void {
    const present = new Set(tree.nodes.map(node => keyOf(node.facts)));
    for (const key of this.#known.keys()) if (!present.has(key)) this.#known.delete(key);
  }
}
