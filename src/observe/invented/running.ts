import { type Identity, type IdentityKey, keyOf } from '../../model/identity.ts';
import { isZombie } from '../../model/process.ts';
import { type InventedProcess, startOf } from './machine.ts';

/** The processes of the invented machine, which end and are reaped as real ones are. */
export class InventedTable {
  readonly #processes: Map<number, InventedProcess>;

  constructor(processes: readonly InventedProcess[]) {
    this.#processes = new Map(processes.map(p => [p.pid, p]));
  }

  readonly has = (pid: number): boolean => this.#processes.has(pid);

  at(pid: number): InventedProcess | undefined {
    return this.#processes.get(pid);
  }

  /** Those that had been started by now: what came before the fixed moment is told, too. */
  startedBy(elapsed: number): readonly InventedProcess[] {
    return [...this.#processes.values()].filter(p => p.age + elapsed >= 0);
  }

  find<T>(identities: readonly Identity[], of: (p: InventedProcess) => T): ReadonlyMap<IdentityKey, T> {
    const found = new Map<IdentityKey, T>();
    for (const identity of identities) {
      const p = this.#processes.get(identity.pid);
      if (p !== undefined && startOf(p) === identity.start) found.set(keyOf(identity), of(p));
    }
    return found;
  }

  setState(pid: number, state: string): void {
    this.#processes.set(pid, { ...this.#processes.get(pid)!, state });
  }

  reapChildrenOf(pid: number): void {
    for (const p of this.#processes.values())
      if (p.ppid === pid && isZombie(p)) this.#processes.delete(p.pid);
  }

  end(pid: number): void {
    this.reapChildrenOf(pid);
    this.#processes.delete(pid);
    for (const p of this.#processes.values())
      if (p.ppid === pid) this.#processes.set(p.pid, { ...p, ppid: 1 });
  }
}
