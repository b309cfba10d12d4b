/**
 * A cache that cannot grow: two generations, of which the older is dropped when the younger is full. What is used
 * in every frame moves to the younger one each time; what is not used any more is gone after two changes.
 */
export class BoundedCache<Value> {
  readonly #limit: number;
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Entries held now: never more than twice the limit. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(key: string, make: (key: string) => Value): Value {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    const value = old === undefined ? make(key) : old;
    if (this.#young.size >= this.#limit) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
    return value;
  }
}
