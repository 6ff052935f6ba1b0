// Tools that a provider holds back until a search finds them (`defer_loading`). They are no part of the beginning of a prompt, so that one
// more of them leaves what the provider has in its cache: it loads a definition where a message refers to it.
import { objectsOf } from "./dialect.js";
import type { Fields } from "./dialect.js";

/** The tools of a request, as a prompt has them. */
export interface PromptedTools {
  /** Those that it begins with. */
  readonly first: readonly Fields[];
  /** Those that it has further on, since its messages refer to them. */
  readonly loaded: readonly Fields[];
}

/** Tells the tools of a request apart; undefined where none is held back. */
export function promptedTools(tools: readonly Fields[], messages: readonly object[]): PromptedTools | undefined {
  const isDeferred = ({ defer_loading: deferred }: Fields): boolean => deferred === true;
  const within = ({ tools: more }: Fields): readonly Fields[] => objectsOf(more);
  if (![...tools, ...tools.flatMap(within)].some(isDeferred)) return undefined;
  const names = new Set(messages.flatMap((message) => referredTo((message as Fields)["content"])));
  // What a namespace of OpenAI holds back stands in the result of the search.
  const bare = (tool: Fields): Fields =>
    within(tool).some(isDeferred) ? { ...tool, tools: within(tool).filter((one) => !isDeferred(one)) } : tool;
  return {
    first: tools.filter((tool) => !isDeferred(tool)).map(bare),
    loaded: tools.filter((tool) => isDeferred(tool) && names.has(tool["name"])),
  };
}

/** The names that a message refers to: in results of tools, and in what a search of the provider's own has found. */
function referredTo(content: unknown): readonly unknown[] {
  const results = objectsOf(content).flatMap(({ content: result }) => objectsOf([result].flat()));
  const found = results.flatMap(({ tool_references: references }) => objectsOf(references));
  return [...results, ...found].flatMap(({ type, tool_name: name }) => (type === "tool_reference" ? [name] : []));
}
