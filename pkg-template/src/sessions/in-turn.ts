// Writes to one place, one after the other.

import { refuseAborted, untilAborted } from "../boundary/abort.js";

/** Runs what it is given in the order in which it was given; what failed does not hold up the next. @internal */
export class InTurn {
  #last: Promise<unknown> = Promise.resolve();

  /** A turn that has not come when the signal says to stop is left out; one that has begun is not given up. */
  run<T>(write: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    let isBegun = false;
    const done = this.#last.then(() => {
      refuseAborted(signal);
      isBegun = true;
      return write();
    });
    this.#last = done.catch(() => undefined);
    const waiting = untilAborted(signal, () => done);
    return waiting.catch((error: unknown) => {
      if (isBegun) return done;
      throw error;
    });
  }
}
