// Lines that programs write to standard output among the messages of JSON-RPC: banners, logs, and what stands before the first message.

/** What no JSON begins with and nobody sees: byte order marks (of UTF-16 as U+FFFD), zero width characters, NUL and other controls, sequences for terminals. */
const UNSEEN =
  /^(?:\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]{0,256}(?:\u0007|\u001b\\)|[@-Z\\^_])|[\u0000-\u0020\u007f-\u00a0\u200b-\u200f\u2028\u2029\u2060\ufeff\ufffd])+/;

/** How an answer begins. */
const ANSWER = /\{\s{0,8}"(?:jsonrpc|id|result|error)"/;

/**
 * The message in a line; nothing where it has none. A line may begin with what cannot be seen. The first message may also stand behind
 * words that were printed without an end of their line; later ones may not, as a log that quotes messages would send them again.
 * @internal
 */
export function messageIn(line: string, isFirst: boolean): string | undefined {
  const text = line.startsWith("{") ? line : line.replace(UNSEEN, "");
  if (text.startsWith("{")) return text;
  const at = isFirst ? text.search(ANSWER) : -1;
  if (at !== -1 && isAnswer(read(text.slice(at)))) return text.slice(at);
  // The reader refuses JSON that is no message.
  return read(text) === undefined ? undefined : text;
}

function read(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isAnswer(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { jsonrpc, id, method, result, error } = value as Readonly<Record<string, unknown>>;
  return jsonrpc === "2.0" && id !== undefined && method === undefined && (result !== undefined || error !== undefined);
}
