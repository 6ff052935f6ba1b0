// What the next call of a recorded session copies from the result before it, and the plainest way to shorten a result.

/** The arguments of a call as JSON: those of a shell are its command. */
function argumentsOf({ text }) {
  try {
    return JSON.parse(/^\S+\s+(\{[\s\S]*\})$/.exec(text)?.[1] ?? "");
  } catch {
    return { command: text };
  }
}

/** The results of a session with the call each is of, and what the call behind it copies from it. */
export function stepsOf({ items }) {
  const found = [];
  let earlier = "";
  for (const [at, item] of items.entries()) {
    if (item.kind === "tool_result") {
      const call = items.find(({ id }) => id === item.parent_id);
      const next = items.slice(at + 1).find(({ kind }) => kind !== "agent_msg");
      const words =
        next?.kind === "tool_call"
          ? (JSON.stringify(argumentsOf(next))
              .replaceAll("\\n", " ")
              .match(/[A-Za-z0-9_./-]{6,}/g) ?? [])
          : [];
      const copied = [...new Set(words)].filter((word) => item.text.includes(word) && !earlier.includes(word));
      found.push({ text: item.text, tool: call?.metadata?.tool_name ?? "shell", input: call ? argumentsOf(call) : {}, copied });
    }
    earlier += `\n${item.text}`;
  }
  return found;
}

/** Both ends of each result, of so many tokens. */
export const headAndTail = (tokens) => async (session) =>
  session.map(({ text }) => (text.length <= 8 * tokens ? text : `${text.slice(0, 4 * tokens)}\n[…]\n${text.slice(-4 * tokens)}`));
