// Finds the name that a misspelt one was meant to be. The WebAssembly engine decides, by the rule for its own fields.
import { asked } from "./asked.js";

/** Names that are listed: options are fewer, tools may be thousands. */
const MOST_LISTED = 40;

/**
 * Returns the known name that is nearest: the same but for case and what parts its words, one or two typing errors away,
 * or a longer or shorter form. None when no name is near, or no module can be asked. @internal
 */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const place = asked((engine) => engine.nearest_name(name, known.join("\0")));
  return place === undefined ? undefined : known[place];
}

/** Says of a name that is unknown which one may be meant, or which there are. @internal */
export function nearestHint(name: string, known: readonly string[]): string | undefined {
  const meant = nearest(name, known);
  if (meant !== undefined) return `did you mean \`${meant}\`?`;
  if (known.length === 0) return undefined;
  const more = known.length > MOST_LISTED ? ` … (${known.length} in all)` : "";
  return `one of: ${known.slice(0, MOST_LISTED).join(" ")}${more}`;
}
