// Adds up the usage of several calls of a model.

type Fields = Readonly<Record<string, unknown>>;

/** Adds numbers up wherever they stand; what the provider itself calls usage is that of the last call. */
export function sumOf(one: Fields, other: Fields | undefined): Fields {
  const sums = Object.entries({ ...one, ...other }).map(([key, last]) => {
    const first = one[key];
    if (key === "raw" || other?.[key] === undefined) return [key, last ?? first];
    if (typeof first === "number" && typeof last === "number") return [key, first + last];
    if (Array.isArray(first) && Array.isArray(last)) return [key, joined(first, last)];
    return [key, isRecord(first) && isRecord(last) ? sumOf(first, last) : last];
  });
  return Object.fromEntries(sums) as Fields;
}

/** Joins two lists. Gemini's tokens of one modality are one entry, whose numbers are added up. */
function joined(first: readonly unknown[], last: readonly unknown[]): readonly unknown[] {
  const sums = [...first];
  const places = new Map(first.map((entry, at) => [modalityOf(entry), at]));
  for (const entry of last) {
    const modality = modalityOf(entry);
    const at = modality === undefined ? undefined : places.get(modality);
    if (at === undefined) sums.push(entry);
    else sums[at] = sumOf(sums[at] as Fields, entry as Fields);
  }
  return sums;
}

function modalityOf(entry: unknown): string | undefined {
  const modality = isRecord(entry) ? entry["modality"] : undefined;
  return typeof modality === "string" ? modality : undefined;
}

function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
