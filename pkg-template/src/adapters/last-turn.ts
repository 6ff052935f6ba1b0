// The last turn of a conversation in messages of the AI SDK.

interface Part {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly toolName?: unknown;
}

/** What the user asked last, and the tools that were called since. */
export function lastTurn(messages: readonly unknown[]): { readonly query: string; readonly called: readonly string[] } {
  const list = messages as readonly { readonly role?: unknown; readonly content?: unknown }[];
  const last = list.map(({ role }) => role).lastIndexOf("user");
  const partsOf = (content: unknown): readonly Part[] =>
    Array.isArray(content) ? (content as Part[]) : [{ type: "text", text: content }];
  const texts = partsOf(list[last]?.content).filter(({ type }) => type === "text");
  const calls = list
    .slice(last + 1)
    .flatMap(({ content }) => partsOf(content))
    .filter(({ type }) => type === "tool-call");
  return {
    query: texts.map(({ text }) => String(text ?? "")).join("\n"),
    called: calls.map(({ toolName }) => String(toolName)),
  };
}
