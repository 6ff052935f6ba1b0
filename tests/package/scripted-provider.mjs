// Loaded before a snippet that needs a model: in place of the network stand the providers, with a model that calls the first tool
// of the agent's own once after each turn of the user, and then answers. Every other request fails.
for (const name of ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AI_GATEWAY_API_KEY"]) process.env[name] = "none";

const ADDED = ["drilldown", "recall", "find_tools"];
const ARGUMENTS = { id: 4711 };
const ANSWER = "Order 4711 is held.";
const TOKENS = 1_000;

/** The name of the tool to call, or nothing where it is time to answer. */
function called(last, names) {
  const isTurn = last === undefined || (last.role === "user" && !JSON.stringify(last.content).includes("tool_result"));
  return isTurn ? names.find((name) => !ADDED.includes(name)) : undefined;
}

const PROVIDERS = {
  "https://api.anthropic.com/v1/messages": ({ messages, tools = [], model }) => {
    const name = called(
      messages.at(-1),
      tools.map((tool) => tool.name),
    );
    const content = name ? [{ type: "tool_use", id: `toolu_${messages.length}`, name, input: ARGUMENTS }] : [{ type: "text", text: ANSWER }];
    return Response.json({
      id: "msg",
      type: "message",
      role: "assistant",
      model,
      content,
      stop_reason: name ? "tool_use" : "end_turn",
      stop_sequence: null,
      usage: { input_tokens: TOKENS, output_tokens: 9 },
    });
  },
  "https://api.openai.com/v1/chat/completions": ({ messages, tools = [], model }) => {
    const name = called(
      messages.at(-1),
      tools.map((tool) => tool.function.name),
    );
    const calls = name && [{ id: `call_${messages.length}`, type: "function", function: { name, arguments: JSON.stringify(ARGUMENTS) } }];
    const message = { role: "assistant", content: name ? null : ANSWER, refusal: null, ...(calls && { tool_calls: calls }) };
    return Response.json({
      id: "chat",
      object: "chat.completion",
      created: 1,
      model,
      choices: [{ index: 0, finish_reason: name ? "tool_calls" : "stop", logprobs: null, message }],
      usage: { prompt_tokens: TOKENS, completion_tokens: 9, total_tokens: TOKENS + 9 },
    });
  },
  "https://api.openai.com/v1/responses": ({ input, tools = [], model }) => {
    const name = called(
      input.at(-1),
      tools.map((tool) => tool.name),
    );
    const call = { type: "function_call", id: "fc", call_id: `call_${input.length}`, name, arguments: JSON.stringify(ARGUMENTS), status: "completed" };
    const text = { type: "message", id: "msg", role: "assistant", status: "completed", content: [{ type: "output_text", text: ANSWER, annotations: [] }] };
    return Response.json({
      id: "resp",
      object: "response",
      created_at: 1,
      model,
      status: "completed",
      error: null,
      output: [name ? call : text],
      usage: {
        input_tokens: TOKENS,
        output_tokens: 9,
        total_tokens: TOKENS + 9,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens_details: { reasoning_tokens: 0 },
      },
    });
  },
  "https://ai-gateway.vercel.sh/v4/ai/language-model": ({ prompt, tools = [] }, isStream) => {
    const name = called(
      prompt.at(-1),
      tools.map((tool) => tool.name),
    );
    const part = name
      ? { type: "tool-call", toolCallId: `call_${prompt.length}`, toolName: name, input: JSON.stringify(ARGUMENTS) }
      : { type: "text", text: ANSWER };
    const finishReason = { unified: name ? "tool-calls" : "stop", raw: undefined };
    const usage = { inputTokens: { total: TOKENS }, outputTokens: { total: 9 } };
    if (!isStream) return Response.json({ content: [part], finishReason, usage, warnings: [] });
    const text = [
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: ANSWER },
      { type: "text-end", id: "t" },
    ];
    const events = [{ type: "stream-start", warnings: [] }, ...(name ? [part] : text), { type: "finish", finishReason, usage }];
    return new Response(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""), { headers: { "content-type": "text/event-stream" } });
  },
  // What the Agents SDK traces.
  "https://api.openai.com/v1/traces/ingest": () => new Response(null, { status: 204 }),
};

globalThis.fetch = async (address, { body, headers } = {}) => {
  const [at] = String(address?.url ?? address).split("?");
  const provider = PROVIDERS[at];
  if (!provider) throw new Error(`a snippet asks ${at}`);
  const text = body ?? (await address.text());
  return provider(JSON.parse(text), new Headers(headers).get("ai-language-model-streaming") === "true");
};
