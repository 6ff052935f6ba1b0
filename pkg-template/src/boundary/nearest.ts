// Which known name a misspelt one was meant to be: what the engine says of its fields, for those that it never sees.

/** Longest name that is compared: those of fields are shorter, and the work grows with the square. */
const LONGEST = 48;
/** Characters that a name shares with the beginning of a longer one. */
const SHORTEST_BEGINNING = 4;

/**
 * Returns the known name that is nearest: the same but for case and what parts its words, one or two typing errors away,
 * or a longer or shorter form. The first of equals; none when no name is near. @internal
 */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const wanted = plain(name);
  const ranked = known.map((other) => [distance(wanted, plain(other)), other] as const);
  const [best] = ranked.filter(([far]) => far < Infinity).sort(([a], [b]) => a - b);
  return best?.[1];
}

/** The letters and digits of a name in lower case; none of one that is too long. */
function plain(name: string): readonly string[] {
  return name.length > LONGEST ? [] : [...name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "")];
}

/** How far two names are apart, where that is near: typing errors, or more for what one only begins with. */
function distance(a: readonly string[], b: readonly string[]): number {
  const shorter = Math.min(a.length, b.length);
  if (shorter === 0) return Infinity;
  const errors = typingErrors(a, b);
  if (errors <= (shorter < 3 ? 0 : shorter < 6 ? 1 : 2)) return errors;
  const begins = (whole: readonly string[], part: readonly string[]): boolean => part.every((letter, at) => whole[at] === letter);
  const isForm = shorter >= SHORTEST_BEGINNING && (begins(a, b) || begins(b, a));
  return isForm ? LONGEST + Math.abs(a.length - b.length) : Infinity;
}

/** Characters that are missing, too many, wrong, or swapped with their neighbour. */
function typingErrors(a: readonly string[], b: readonly string[]): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 0; i < a.length; i += 1) {
    const row = [i + 1];
    for (let j = 0; j < b.length; j += 1) {
      const kept = (above[j] as number) + (a[i] === b[j] ? 0 : 1);
      let least = Math.min(kept, (above[j + 1] as number) + 1, (row[j] as number) + 1);
      if (i > 0 && j > 0 && a[i] === b[j - 1] && a[i - 1] === b[j]) least = Math.min(least, (before[j - 1] as number) + 1);
      row.push(least);
    }
    [before, above] = [above, row];
  }
  return above[b.length] as number;
}
