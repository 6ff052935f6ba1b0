// A provider's own tool search, answered by the router. The provider loads the found tools at the place of the search
// result, so the tool list stays the same. The log has such a result as text. What is sent has the form by which the
// provider loads tools: definitions or references.
import type { AgentLoop, ChosenTools } from "./agent-loop.js";

/** Most tools that a search returns. Providers advise few, because each definition is loaded whole. */
export const MOST_FOUND = 5;
const BEFORE = "Found: ";
/** Tells the model what to do once a found tool is no longer loaded for lack of room. */
const AFTER = ". What is not loaded, find again.";

/** Writes the result of a search as the log keeps it: the names of the found tools. */
export function foundText(names: readonly string[]): string {
  return `${BEFORE}${names.join(", ")}${AFTER}`;
}

/** Reads the names out of a text of {@link foundText}; any other text has none. */
function foundNames(text: unknown): readonly string[] {
  const isFound = typeof text === "string" && text.startsWith(BEFORE) && text.endsWith(AFTER);
  return isFound ? text.slice(BEFORE.length, -AFTER.length).split(", ") : [];
}

/** Names of tools by the id of the search call that found them, the newest call last. */
type Found = ReadonlyMap<string, readonly string[]>;

/** Decides which tools that searches of a conversation found are loaded. */
export class FoundTools {
  readonly #loop: AgentLoop;
  /** Names of the tools that are loaded only after a search. */
  readonly #deferred: ReadonlySet<string>;
  /** Found tools that the last call of the model loaded. */
  #loaded: Found = new Map();
  /** Found tools that the next call has room for. */
  #chosen: Found = new Map();
  /**
   * Ids of search calls whose results were sent or left out before. A result that was left out once is not loaded again, so
   * no room is kept for it.
   */
  readonly #seen = new Set<string>();

  constructor(loop: AgentLoop, deferred: ReadonlySet<string>) {
    [this.#loop, this.#deferred] = [loop, deferred];
  }

  /**
   * Chooses which found tools are loaded, those of the newest search first, as far as there is room. `demanded` names tools
   * that are loaded in any case.
   */
  choose(results: Found, demanded: readonly string[], model: string): ChosenTools {
    // A result that was edited loads what it names now.
    const current = new Map([
      // The log may still show what the host forgot.
      ...this.#loaded,
      ...[...results].filter(([id]) => this.#loaded.has(id) || !this.#seen.has(id)),
    ]);
    const found = [...current]
      .map(([id, names]) => [id, names.filter((name) => this.#deferred.has(name))] as const)
      .reverse();
    const { chosen, loaded } = this.#loop.load(
      demanded,
      found.map(([, names]) => names),
      model,
    );
    this.#chosen = new Map(found.map(([id], at) => [id, loaded[at] ?? []] as const).reverse());
    return chosen;
  }

  /**
   * Takes the texts of the results in the prompt, by the id of the call. Returns the names of the tools that each of them
   * loads.
   */
  sent(results: ReadonlyMap<string, unknown>): Found {
    const loaded = [...results].flatMap(([id, text]) => {
      const names = foundNames(text).filter((name) => this.#chosen.get(id)?.includes(name));
      return names.length > 0 ? [[id, names] as const] : [];
    });
    for (const id of [...this.#chosen.keys(), ...results.keys()]) this.#seen.add(id);
    this.#loaded = new Map(loaded);
    return this.#loaded;
  }
}
