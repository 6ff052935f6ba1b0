// The last turn of a conversation in messages of Anthropic.

type Fields = Readonly<Record<string, unknown>>;

/** Finds the user's last question and the tools that were called since. */
export function lastTurn(messages: readonly object[]): { readonly query: string; readonly called: readonly string[] } {
  const list = messages as readonly { readonly role?: unknown; readonly content?: unknown }[];
  const blocksOf = (content: unknown): readonly Fields[] =>
    Array.isArray(content) ? (content as Fields[]) : [{ type: "text", text: content }];
  const asks = list.map(
    ({ role, content }) => role === "user" && blocksOf(content).some(({ type }) => type !== "tool_result"),
  );
  const last = asks.lastIndexOf(true);
  const texts = blocksOf(list[last]?.content).filter(({ type }) => type === "text");
  const calls = list
    .slice(last + 1)
    .flatMap(({ content }) => blocksOf(content))
    .filter(({ type }) => type === "tool_use");
  return {
    query: texts.map(({ text }) => String(text ?? "")).join("\n"),
    called: calls.map(({ toolset_name: toolset, name }) => String(toolset ?? name)),
  };
}
