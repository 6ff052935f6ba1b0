// A script in the place of a model: it reads what it is given, and nothing else. Put your requests here.
import type { JsonObject, Selector } from "contextweaver";

interface AssistantMessage {
  readonly role: "assistant";
  readonly content: null;
  readonly tool_calls: readonly [{ id: string; type: "function"; function: { name: string; arguments: string } }];
}

const found = (text: string, pattern: RegExp): string => {
  const [, match] = pattern.exec(text) ?? [];
  if (match === undefined) throw new Error(`the prompt does not say ${pattern}:\n${text}`);
  return match;
};

export const model = {
  /** Takes the first tool it is offered. */
  choose(tools: readonly unknown[]): string {
    const [first] = tools as readonly { function: { name: string } }[];
    if (!first) throw new Error("no tool was offered");
    return first.function.name;
  },

  /** Fills in the path from the question. */
  call(name: string, prompt: string): AssistantMessage {
    const path = found(prompt, /Read the text file (\S+):/);
    const call = { id: "call_1", type: "function" as const, function: { name, arguments: JSON.stringify({ path }) } };
    return { role: "assistant", content: null, tool_calls: [call] };
  },

  /** Looks for the order in what the digest leaves out. */
  interpret(prompt: string): { selector: Selector } {
    return { selector: { type: "search", query: `order ${found(prompt, /order (\d+)/)} failed` } };
  },

  /** Quotes the line that the prompt has by now. */
  answer(messages: readonly JsonObject[]): string {
    return `Order 4711 failed: ${found(messages.map(({ content }) => String(content)).join("\n"), /order 4711 failed: ([^\n"]+)/)}`;
  },
};
