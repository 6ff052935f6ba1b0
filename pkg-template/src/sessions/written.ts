// How much of a journal stands behind its last whole parts, and whether writing it anew pays.

/** Bytes of parts behind the last whole ones up to which nothing is compacted; beyond, when they are as many as those. */
const MIN_COMPACTED = 1024 * 1024;

const encoder = new TextEncoder();

/** What is written of a journal, in bytes (UTF-8). @internal */
export class Written {
  readonly #min: number;
  #whole: number;
  #later: number;
  #mustCompact: boolean;

  /** Begins with the parts that a storage has: they begin with those that are whole. */
  constructor(parts: readonly string[], min: number | undefined, mustCompact: boolean) {
    this.#whole = bytesOf(parts.slice(0, 1 + parts.findIndex(isLast)));
    [this.#min, this.#later, this.#mustCompact] = [min ?? MIN_COMPACTED, bytesOf(parts) - this.#whole, mustCompact];
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

/** Whether a part is the last of those that were written at once: it ends with counts, which are numbers, if any. */
function isLast(part: string): boolean {
  return /^[\d[]\]\}\}$/.test(part.slice(-4));
}

/** Bytes of parts (UTF-8). @internal */
export function bytesOf(parts: readonly string[]): number {
  return parts.reduce((sum, part) => sum + encoder.encode(part).length, 0);
}
