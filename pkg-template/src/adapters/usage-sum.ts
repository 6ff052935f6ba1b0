// Adds up the usage of several calls of a model.

type Fields = Readonly<Record<string, unknown>>;

/** Adds numbers up wherever they stand; what the provider itself calls usage is that of the last call. */
export function sumOf(one: Fields, other: Fields | undefined): Fields {
  const sums = Object.entries({ ...one, ...other }).map(([key, last]) => {
    const first = one[key];
    if (key === "raw" || other?.[key] === undefined) return [key, last ?? first];
    if (typeof first === "number" && typeof last === "number") return [key, first + last];
    const areRecords = typeof first === "object" && first !== null && typeof last === "object" && last !== null;
    return [key, areRecords ? sumOf(first as Fields, last as Fields) : last];
  });
  return Object.fromEntries(sums) as Fields;
}
