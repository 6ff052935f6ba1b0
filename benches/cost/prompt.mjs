// Prompts as they are counted: a line of JSON for each message, a token for every four characters.

const lines = new WeakMap();
const plains = new WeakMap();

const once = (cache, compute) => (message) => {
  if (!cache.has(message)) cache.set(message, compute(message));
  return cache.get(message);
};

/** What a message is on the wire. Each object is written once: strategies must not change what they returned. */
export const lineOf = once(lines, JSON.stringify);

/** The words of a message as a model reads them: its content and the arguments of its calls. */
export const plainOf = once(plains, ({ content, tool_calls: calls = [] }) => {
  const words = typeof content === "string" ? content : JSON.stringify(content ?? "");
  return [words, ...calls.map((call) => call.function.arguments)].join(" ");
});

export const tokensOf = (characters) => Math.ceil(characters / 4);

/** Characters of a prompt, with a line break between messages. */
export const lengthOf = (messages) => messages.reduce((sum, message) => sum + lineOf(message).length + 1, 0) - (messages.length > 0 ? 1 : 0);

/** Whether a string stands in a prompt, read or as JSON. */
export const holds = (messages, text) => messages.some((message) => plainOf(message).includes(text) || lineOf(message).includes(text));

/** Whether a string stands in a prompt as a model reads it. */
export const shows = (messages, text) => messages.some((message) => plainOf(message).includes(text));

function sameCharacters(a, b) {
  const most = Math.min(a.length, b.length);
  let same = 0;
  while (same < most && a.charCodeAt(same) === b.charCodeAt(same)) same += 1;
  return same;
}

/**
 * What a prompt repeats of the one before it: whole messages from the first on, and characters. Whole messages are compared first,
 * so that a prompt that goes on costs what is new.
 */
export function repeats(before, now) {
  let messages = 0;
  let characters = 0;
  while (messages < before.length && messages < now.length && lineOf(before[messages]) === lineOf(now[messages])) {
    characters += lineOf(now[messages]).length + 1;
    messages += 1;
  }
  const whole = now.slice(0, messages).reduce((sum, message) => sum + tokensOf(lineOf(message).length), 0);
  const isWhole = messages === before.length || messages === now.length;
  // After the last message there is no line break.
  if (isWhole) characters = Math.max(0, characters - 1);
  else characters += sameCharacters(lineOf(before[messages]), lineOf(now[messages]));
  return { messages, characters, whole };
}
