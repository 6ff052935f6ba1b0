// What is kept in memory between requests: a bounded number, one request at a time for each, the least recently used goes first.

/** Something that is kept. */
export interface Kept {
  /** Bytes, about. */
  readonly weight: number;
  /** Whether it is as the store has it; without this it is. */
  isCurrent?(): Promise<boolean>;
  free(): void;
}

/** How much is kept. */
export interface PoolLimits {
  readonly count: number;
  readonly bytes: number;
}

interface Place<K extends Kept> {
  kept: K | undefined;
  weight: number;
  /** Requests that use it or wait for it. */
  users: number;
  /** Ends when the request before has ended. */
  last: Promise<unknown>;
}

/** Things by tenant and name: a pair, never one text. */
export class Pool<K extends Kept> {
  readonly #limits: PoolLimits;
  readonly #tenants = new Map<string, Map<string, Place<K>>>();
  /** The least recently used first. */
  readonly #order = new Map<Place<K>, () => void>();
  #bytes = 0;

  constructor(limits: PoolLimits) {
    this.#limits = limits;
  }

  /** Runs a request when those before it on the same thing have ended; `drop` forgets the thing, which `open` then makes again. */
  use<T>(
    tenant: string,
    name: string,
    open: () => Promise<K>,
    run: (kept: K, drop: () => void) => Promise<T>,
  ): Promise<T> {
    return this.#inTurn(tenant, name, async (place) => {
      if (place.kept?.isCurrent && !(await place.kept.isCurrent())) this.#forget(place);
      place.kept ??= await open();
      return run(place.kept, () => this.#forget(place));
    });
  }

  /** Forgets a thing in turn, and runs what needs it not in memory. */
  without<T>(tenant: string, name: string, run: () => Promise<T>): Promise<T> {
    return this.#inTurn(tenant, name, (place) => {
      this.#forget(place);
      return run();
    });
  }

  async #inTurn<T>(tenant: string, name: string, run: (place: Place<K>) => Promise<T>): Promise<T> {
    const place = this.#place(tenant, name);
    place.users += 1;
    const turn = place.last.then(() => run(place));
    place.last = turn.then(
      () => undefined,
      () => undefined,
    );
    try {
      return await turn;
    } finally {
      place.users -= 1;
      this.#weigh(place);
      this.#makeRoom();
    }
  }

  free(): void {
    for (const [place, remove] of this.#order) {
      this.#forget(place);
      remove();
    }
    this.#order.clear();
  }

  #place(tenant: string, name: string): Place<K> {
    const names = this.#tenants.get(tenant) ?? new Map<string, Place<K>>();
    this.#tenants.set(tenant, names);
    const place: Place<K> = names.get(name) ?? { kept: undefined, weight: 0, users: 0, last: Promise.resolve() };
    names.set(name, place);
    this.#order.delete(place);
    this.#order.set(place, () => {
      names.delete(name);
      if (names.size === 0 && this.#tenants.get(tenant) === names) this.#tenants.delete(tenant);
    });
    return place;
  }

  #weigh(place: Place<K>): void {
    const weight = place.kept?.weight ?? 0;
    this.#bytes += weight - place.weight;
    place.weight = weight;
  }

  #forget(place: Place<K>): void {
    place.kept?.free();
    place.kept = undefined;
    this.#weigh(place);
  }

  #makeRoom(): void {
    for (const [place, remove] of this.#order) {
      const isFull = this.#order.size > this.#limits.count || this.#bytes > this.#limits.bytes;
      if (place.users > 0 || (place.kept !== undefined && !isFull)) continue;
      this.#forget(place);
      this.#order.delete(place);
      remove();
    }
  }
}
