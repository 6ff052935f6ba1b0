// Recorded sessions as conversations of OpenAI's chat completions, and several of them as one.

/** Arguments of a recorded call: `name {json}` and `{json}` are JSON already, a line of a shell is its command. */
function argumentsOf(text) {
  const json = /^(?:\S+\s+)?(\{[\s\S]*\})$/.exec(text)?.[1];
  if (json !== undefined && isJson(json)) return json;
  return JSON.stringify({ command: text });
}

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * The messages of a session, and for each item how many messages there are once it was added. A call joins the assistant message
 * before it, as a model writes both at once.
 */
function messagesOf(items) {
  const messages = [];
  const after = items.map(({ id, kind, text, parent_id: parent, metadata }) => {
    if (kind === "user_turn") messages.push({ role: "user", content: text });
    else if (kind === "agent_msg") messages.push({ role: "assistant", content: text });
    else if (kind === "tool_result") messages.push({ role: "tool", tool_call_id: parent, content: text });
    else if (kind === "tool_call") {
      const call = { id, type: "function", function: { name: metadata?.tool_name ?? "shell", arguments: argumentsOf(text) } };
      const last = messages.at(-1);
      if (last?.role === "assistant" && last.tool_calls === undefined) last.tool_calls = [call];
      else messages.push({ role: "assistant", content: null, tool_calls: [call] });
    } else throw new Error(`a session of an agent has no item of kind '${kind}'`);
    return messages.length;
  });
  return { messages, after };
}

/** The strings that have to be in a prompt, of every alternative of every group: found when each group has one alternative whole. */
function groupsOf({ evidence, groups = evidence.map((id) => [id]), values }, items) {
  const text = new Map(items.map((item) => [item.id, item.text]));
  return groups.map((group) => group.map((id) => values?.[id] ?? [text.get(id)]));
}

/** A recorded session as {id, messages, questions}; a question is asked once there are `at` messages. */
export function conversation({ id, items, queries }) {
  const { messages, after } = messagesOf(items);
  const questions = queries.map((query) => ({ at: after[query.at], groups: groupsOf(query, items) }));
  return { id, messages, questions };
}

function renamed(message, prefix) {
  if (message.tool_calls) return { ...message, tool_calls: message.tool_calls.map((call) => ({ ...call, id: `${prefix}.${call.id}` })) };
  return message.tool_call_id === undefined ? message : { ...message, tool_call_id: `${prefix}.${message.tool_call_id}` };
}

/** Conversations of `count` sessions each, one task after the other; what does not fill one is left out. */
export function joined(sessions, count) {
  if (count === 1) return sessions;
  const found = [];
  for (let from = 0; from + count <= sessions.length; from += count) {
    const one = { id: [], messages: [], questions: [] };
    for (const [at, { id, messages, questions }] of sessions.slice(from, from + count).entries()) {
      const shift = one.messages.length;
      one.id.push(id);
      one.messages.push(...messages.map((message) => renamed(message, at)));
      one.questions.push(...questions.map((question) => ({ ...question, at: question.at + shift })));
    }
    found.push({ ...one, id: one.id.join(" + ") });
  }
  return found;
}
