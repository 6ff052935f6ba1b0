// The last turn of a conversation in messages of chat completions or items of responses.

type Fields = Readonly<Record<string, unknown>>;

/** The user's last question, and its place; -1 where there is none. */
function lastQuestion(list: readonly Fields[]): { readonly query: string; readonly place: number } {
  let place = list.length - 1;
  while (place >= 0 && list[place]?.["role"] !== "user") place -= 1;
  const content = list[place]?.["content"];
  const parts = Array.isArray(content) ? (content as Fields[]) : [{ text: content }];
  return { query: parts.flatMap(({ text }) => (typeof text === "string" ? [text] : [])).join("\n"), place };
}

/** Finds the user's last question, in messages as in items. */
export function lastQuery(messages: readonly object[]): string {
  return lastQuestion(messages as readonly Fields[]).query;
}

/** Finds the user's last question and the tools that were called since, in messages as in items. */
export function lastTurn(messages: readonly object[]): { readonly query: string; readonly called: readonly string[] } {
  const list = messages as readonly Fields[];
  const { query, place } = lastQuestion(list);
  const calls = list
    .slice(place + 1)
    .flatMap(
      (message) =>
        (message["tool_calls"] as Fields[] | undefined) ?? (/_call$/.test(String(message["type"])) ? [message] : []),
    );
  return { query, called: calls.flatMap((call) => namesOf(call)) };
}

/** The names of tools in a call or a choice. */
export function namesOf(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const { type, name, function: inside, custom, allowed_tools: allowed, tools, server_label: server } = value as Fields;
  if (type === "allowed_tools")
    return (((allowed as Fields | undefined)?.["tools"] ?? tools ?? []) as unknown[]).flatMap(namesOf);
  const called =
    name ?? (inside as Fields | undefined)?.["name"] ?? (custom as Fields | undefined)?.["name"] ?? server ?? type;
  return typeof called === "string" ? [called] : [];
}
