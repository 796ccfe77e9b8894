/** A state whose containers count how often they are looked at: cost without a clock, equal on every machine. */
import { createState, type TaskState } from "../../src/engine/model/state.js";

export interface Counter {
  looks: number;
}

class CountingMap<K, V> extends Map<K, V> {
  // Set after construction: Map's own constructor calls `set`.
  counter: Counter = { looks: 0 };

  #count(): void {
    this.counter.looks += 1;
  }
  /** Lists that grow count too. */
  override set(key: K, value: V): this {
    const isGrowing = Array.isArray(value) && !Object.isFrozen(value);
    return super.set(key, isGrowing ? (countingList(value, this.counter) as V) : value);
  }
  override get(key: K): V | undefined {
    this.#count();
    return super.get(key);
  }
  override has(key: K): boolean {
    this.#count();
    return super.has(key);
  }
  override *values(): MapIterator<V> {
    for (const value of super.values()) {
      this.#count();
      yield value;
    }
    return undefined;
  }
  override *keys(): MapIterator<K> {
    for (const key of super.keys()) {
      this.#count();
      yield key;
    }
    return undefined;
  }
  override *entries(): MapIterator<[K, V]> {
    for (const entry of super.entries()) {
      this.#count();
      yield entry;
    }
    return undefined;
  }
  override [Symbol.iterator](): MapIterator<[K, V]> {
    return this.entries();
  }
}

class CountingSet<T> extends Set<T> {
  counter: Counter = { looks: 0 };

  override *values(): SetIterator<T> {
    for (const value of super.values()) {
      this.counter.looks += 1;
      yield value;
    }
    return undefined;
  }
  override [Symbol.iterator](): SetIterator<T> {
    return this.values();
  }
}

/** Shape: an empty state; `counter.looks` rises with every read of a container and every entry walked over. */
export function createCountingState(counter: Counter): TaskState {
  const state = createState() as unknown as Record<string, unknown>;
  for (const [name, value] of Object.entries(state)) {
    if (value instanceof Map) state[name] = Object.assign(new CountingMap(), { counter });
    else if (value instanceof Set) state[name] = Object.assign(new CountingSet(), { counter });
    else if (Array.isArray(value)) state[name] = countingList(value, counter);
  }
  return state as unknown as TaskState;
}

function countingList(list: unknown[], counter: Counter): unknown[] {
  return new Proxy(list, {
    get(target, key, receiver): unknown {
      if (typeof key === "string" && /^\d+$/.test(key)) counter.looks += 1;
      return Reflect.get(target, key, receiver);
    },
  });
}
