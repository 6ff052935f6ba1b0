// A provider's search of tools that the router answers: what is found is loaded where it was found, and the list of tools stays.
// In the log such a result is a text; in what is sent it is what the provider loads tools by.
import type { AgentLoop, ChosenTools } from "./agent-loop.js";

/** Tools that a search brings: providers advise few, as each is loaded whole. */
export const MOST_FOUND = 5;
const BEFORE = "Found: ";
/** For where it is not loaded any more, for want of room. */
const AFTER = ". What is not loaded, find again.";

/** The names of tools as the log has them. */
export function foundText(names: readonly string[]): string {
  return `${BEFORE}${names.join(", ")}${AFTER}`;
}

/** Reads what {@link foundText} wrote; of any other text, nothing. */
function foundNames(text: unknown): readonly string[] {
  const isFound = typeof text === "string" && text.startsWith(BEFORE) && text.endsWith(AFTER);
  return isFound ? text.slice(BEFORE.length, -AFTER.length).split(", ") : [];
}

/** Names by the id of the call that found them, the newest last. */
type Found = ReadonlyMap<string, readonly string[]>;

/** What is loaded of what was found in a conversation. */
export class FoundTools {
  readonly #loop: AgentLoop;
  /** What can be loaded. */
  readonly #deferred: ReadonlySet<string>;
  /** What the call of the model before has loaded. */
  #loaded: Found = new Map();
  /** What there is room for now. */
  #chosen: Found = new Map();
  /** Calls whose results were sent or left out; what was left out once is not loaded again, so that room is kept for no other. */
  readonly #seen = new Set<string>();

  constructor(loop: AgentLoop, deferred: ReadonlySet<string>) {
    [this.#loop, this.#deferred] = [loop, deferred];
  }

  /** Chooses among what a conversation holds, the newest first. `demanded` is what must be loaded in any case. */
  choose(results: Found, demanded: readonly string[], model: string): ChosenTools {
    // A result that was edited loads what it names now.
    const current = new Map([
      ...[...this.#loaded].filter(([id]) => results.has(id)),
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

  /** Takes the texts of what is sent, by the id of the call, and tells what each of them loads. */
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
