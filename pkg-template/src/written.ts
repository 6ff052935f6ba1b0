// How much of a journal stands behind its last whole parts, and whether writing it anew pays.

/** Bytes of parts behind the last whole ones up to which nothing is compacted; beyond, when they are as many as those. */
const MIN_COMPACTED = 1024 * 1024;

const encoder = new TextEncoder();

/** What is written of a journal, in bytes (UTF-8). @internal */
export class Written {
  readonly #min: number;
  #whole = 0;
  #later: number;
  #mustCompact: boolean;

  /** Of parts that were read it is not known which are whole: they count as later ones. */
  constructor(parts: readonly string[], min: number | undefined, mustCompact: boolean) {
    [this.#min, this.#later, this.#mustCompact] = [min ?? MIN_COMPACTED, bytesOf(parts), mustCompact];
  }

  /** Says that what is stored holds what must not stay, or cannot be read. */
  condemn(): void {
    this.#mustCompact = true;
  }

  get isWorthCompacting(): boolean {
    return this.#mustCompact || this.#later >= Math.max(this.#min, this.#whole);
  }

  /** Counts parts that were stored; returns their bytes. */
  add(parts: readonly string[], whole: boolean): number {
    const bytes = bytesOf(parts);
    if (whole) [this.#whole, this.#later, this.#mustCompact] = [bytes, 0, false];
    else this.#later += bytes;
    return bytes;
  }
}

function bytesOf(parts: readonly string[]): number {
  return parts.reduce((sum, part) => sum + encoder.encode(part).length, 0);
}
