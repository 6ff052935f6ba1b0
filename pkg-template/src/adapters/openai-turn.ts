// The last turn of a conversation in messages of chat completions or items of responses.

type Fields = Readonly<Record<string, unknown>>;

/** Finds the user's last question and the tools that were called since, in messages as in items. */
export function lastTurn(messages: readonly object[]): { readonly query: string; readonly called: readonly string[] } {
  const list = messages as readonly Fields[];
  const last = list.map(({ role }) => role).lastIndexOf("user");
  const content = list[last]?.["content"];
  const parts = Array.isArray(content) ? (content as Fields[]) : [{ text: content }];
  const calls = list.slice(last + 1).flatMap((message) => (message["tool_calls"] as Fields[] | undefined) ?? (/_call$/.test(String(message["type"])) ? [message] : []));
  return {
    query: parts.flatMap(({ text }) => (typeof text === "string" ? [text] : [])).join("\n"),
    called: calls.flatMap((call) => namesOf(call)),
  };
}

/** The names of tools in a call or a choice. */
export function namesOf(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const { type, name, function: inside, custom, allowed_tools: allowed, tools, server_label: server } = value as Fields;
  if (type === "allowed_tools") return (((allowed as Fields | undefined)?.["tools"] ?? tools ?? []) as unknown[]).flatMap(namesOf);
  const called = name ?? (inside as Fields | undefined)?.["name"] ?? (custom as Fields | undefined)?.["name"] ?? server ?? type;
  return typeof called === "string" ? [called] : [];
}
