// Writes to one place, one after the other.

/** Runs what it is given in the order in which it was given; what failed does not hold up the next. @internal */
export class InTurn {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(write: () => Promise<T>): Promise<T> {
    const done = this.#last.then(write);
    this.#last = done.catch(() => undefined);
    return done;
  }
}
