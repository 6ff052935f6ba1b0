// A scripted provider of three languages, behind a proxy: what it is sent is kept byte for byte, and what it says is whole or in events.
export const USAGE = { read: 100, cached: 40, written: 10 };

/** Cuts text into pieces, as models write it. */
const pieces = (text, size = 7) => text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];

const chatAnswer = ({ text = "", calls = [] }, id, model) => ({
  id,
  object: "chat.completion",
  created: 1,
  model,
  choices: [
    {
      index: 0,
      finish_reason: calls.length > 0 ? "tool_calls" : "stop",
      logprobs: null,
      message: {
        role: "assistant",
        content: text === "" ? null : text,
        refusal: null,
        ...(calls.length > 0 && {
          tool_calls: calls.map((call) => ({ id: call.id, type: "function", function: { name: call.name, arguments: JSON.stringify(call.input) } })),
        }),
      },
    },
  ],
  usage: { prompt_tokens: USAGE.read, completion_tokens: 9, total_tokens: USAGE.read + 9, prompt_tokens_details: { cached_tokens: USAGE.cached } },
});

function chatEvents({ text = "", calls = [] }, id, model, { stream_options: options } = {}) {
  const chunk = (delta, finish_reason = null) => ({
    id,
    object: "chat.completion.chunk",
    created: 1,
    model,
    choices: [{ index: 0, delta, finish_reason }],
    ...(options?.include_usage && { usage: null }),
  });
  const chunks = [chunk({ role: "assistant", content: "" }), ...pieces(text).map((content) => chunk({ content }))];
  for (const [index, { id: call, name, input }] of calls.entries()) {
    chunks.push(chunk({ tool_calls: [{ index, id: call, type: "function", function: { name, arguments: "" } }] }));
    chunks.push(...pieces(JSON.stringify(input)).map((json) => chunk({ tool_calls: [{ index, function: { arguments: json } }] })));
  }
  chunks.push(chunk({}, calls.length > 0 ? "tool_calls" : "stop"));
  if (options?.include_usage) chunks.push({ ...chunk({}), choices: [], usage: chatAnswer({}, id, model).usage });
  return [...chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`), "data: [DONE]\n\n"];
}

const itemsOf = ({ text = "", calls = [], thinking }, id) => [
  ...(thinking ? [{ type: "reasoning", id: `rs_${id}`, summary: [{ type: "summary_text", text: thinking }], encrypted_content: `ENC-${id}` }] : []),
  ...(text === ""
    ? []
    : [{ type: "message", id: `msg_${id}`, role: "assistant", status: "completed", content: [{ type: "output_text", text, annotations: [], logprobs: [] }] }]),
  ...calls.map((call) =>
    call.custom !== undefined
      ? { type: "custom_tool_call", id: `ct_${call.id}`, call_id: call.id, name: call.name, input: call.custom, status: "completed" }
      : {
          type: "function_call",
          id: `fc_${call.id}`,
          call_id: call.id,
          name: call.name,
          arguments: JSON.stringify(call.input),
          status: "completed",
          ...(call.namespace && { namespace: call.namespace }),
        },
  ),
];

const responseOf = (said, id, model) => ({
  id,
  object: "response",
  created_at: 1,
  model,
  status: "completed",
  error: null,
  incomplete_details: null,
  instructions: null,
  metadata: {},
  output: itemsOf(said, id),
  parallel_tool_calls: true,
  tool_choice: "auto",
  tools: [],
  usage: {
    input_tokens: USAGE.read,
    input_tokens_details: { cached_tokens: USAGE.cached },
    output_tokens: 9,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: USAGE.read + 9,
  },
});

function responseEvents(said, id, model) {
  const response = responseOf(said, id, model);
  const empty = { ...response, status: "in_progress", output: [], usage: null };
  const events = [
    { type: "response.created", response: empty },
    { type: "response.in_progress", response: empty },
  ];
  for (const [output_index, item] of response.output.entries()) {
    const at = { output_index, item_id: item.id };
    events.push({
      type: "response.output_item.added",
      output_index,
      item: {
        ...item,
        ...(item.content && { content: [] }),
        ...(item.arguments && { arguments: "" }),
        ...(item.summary && { summary: [], encrypted_content: null }),
        status: "in_progress",
      },
    });
    if (item.type === "message") {
      const part = { type: "output_text", text: "", annotations: [], logprobs: [] };
      events.push({ type: "response.content_part.added", ...at, content_index: 0, part });
      events.push(...pieces(item.content[0].text).map((delta) => ({ type: "response.output_text.delta", ...at, content_index: 0, delta, logprobs: [] })));
      events.push(
        { type: "response.output_text.done", ...at, content_index: 0, text: item.content[0].text, logprobs: [] },
        { type: "response.content_part.done", ...at, content_index: 0, part: item.content[0] },
      );
    }
    if (item.type === "reasoning")
      events.push(
        { type: "response.reasoning_summary_part.added", ...at, summary_index: 0, part: { type: "summary_text", text: "" } },
        { type: "response.reasoning_summary_text.delta", ...at, summary_index: 0, delta: item.summary[0].text },
        { type: "response.reasoning_summary_part.done", ...at, summary_index: 0, part: item.summary[0] },
      );
    if (item.type === "custom_tool_call")
      events.push(
        { type: "response.custom_tool_call_input.delta", ...at, delta: item.input },
        { type: "response.custom_tool_call_input.done", ...at, input: item.input },
      );
    if (item.type === "function_call") {
      events.push(...pieces(item.arguments).map((delta) => ({ type: "response.function_call_arguments.delta", ...at, delta })));
      events.push({ type: "response.function_call_arguments.done", ...at, name: item.name, arguments: item.arguments });
    }
    events.push({ type: "response.output_item.done", output_index, item });
  }
  events.push({ type: "response.completed", response });
  return events.map((event, sequence_number) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`);
}

const messageOf = ({ text = "", calls = [], thinking }, id, model) => ({
  id,
  type: "message",
  role: "assistant",
  model,
  stop_sequence: null,
  content: [
    ...(thinking ? [{ type: "thinking", thinking, signature: `SIG-${id}` }] : []),
    ...(text === "" ? [] : [{ type: "text", text }]),
    ...calls.map((call) => ({ type: "tool_use", id: call.id, name: call.name, input: call.input })),
  ],
  stop_reason: calls.length > 0 ? "tool_use" : "end_turn",
  usage: {
    input_tokens: USAGE.read - USAGE.cached - USAGE.written,
    cache_creation_input_tokens: USAGE.written,
    cache_read_input_tokens: USAGE.cached,
    output_tokens: 9,
  },
});

function messageEvents(said, id, model) {
  const message = messageOf(said, id, model);
  const events = [{ type: "message_start", message: { ...message, content: [], stop_reason: null } }, { type: "ping" }];
  for (const [index, block] of message.content.entries()) {
    const start =
      block.type === "text"
        ? { type: "text", text: "" }
        : block.type === "thinking"
          ? { type: "thinking", thinking: "", signature: "" }
          : { ...block, input: {} };
    const deltas =
      block.type === "text"
        ? pieces(block.text).map((text) => ({ type: "text_delta", text }))
        : block.type === "thinking"
          ? [...pieces(block.thinking).map((thinking) => ({ type: "thinking_delta", thinking })), { type: "signature_delta", signature: block.signature }]
          : pieces(JSON.stringify(block.input)).map((partial_json) => ({ type: "input_json_delta", partial_json }));
    events.push({ type: "content_block_start", index, content_block: start }, ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })), {
      type: "content_block_stop",
      index,
    });
  }
  events.push(
    { type: "message_delta", delta: { stop_reason: message.stop_reason, stop_sequence: null }, usage: { output_tokens: 9 } },
    { type: "message_stop" },
  );
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

const contentOf = ({ text = "", calls = [], thinking, isSigned = thinking !== undefined }, id, modelVersion) => ({
  candidates: [
    {
      index: 0,
      finishReason: "STOP",
      content: {
        role: "model",
        parts: [
          ...(thinking ? [{ text: thinking, thought: true }] : []),
          ...(text === "" ? [] : [{ text }]),
          ...calls.map((call, at) => ({ functionCall: { name: call.name, args: call.input }, ...(at === 0 && isSigned && { thoughtSignature: `SIG-${id}` }) })),
        ],
      },
    },
  ],
  usageMetadata: { promptTokenCount: USAGE.read, cachedContentTokenCount: USAGE.cached, candidatesTokenCount: 9, totalTokenCount: USAGE.read + 9 },
  modelVersion,
  responseId: id,
});

function contentEvents(said, id, model) {
  const {
    candidates: [{ content, ...end }],
    ...rest
  } = contentOf(said, id, model);
  const parts = content.parts.flatMap((part) => (part.text === undefined ? [part] : pieces(part.text).map((text) => ({ ...part, text }))));
  const chunk = (list, more) => `data: ${JSON.stringify({ candidates: [{ content: { role: "model", parts: list }, ...more, index: 0 }], ...rest })}\r\n\r\n`;
  return [...parts.slice(0, -1).map((part) => chunk([part])), chunk(parts.slice(-1), end)];
}

const LANGUAGES = {
  "/v1/chat/completions": { whole: chatAnswer, events: chatEvents },
  "/v1/responses": { whole: responseOf, events: responseEvents },
  "/v1/messages": { whole: messageOf, events: messageEvents },
};

/** A body that ends as soon as nobody reads it; `wait` is asked before each piece. */
export function streamed(parts, { wait = () => undefined, cancelled = () => undefined } = {}) {
  const encoder = new TextEncoder();
  let at = 0;
  return new ReadableStream({
    async pull(controller) {
      await wait(at);
      if (at === parts.length) controller.close();
      else controller.enqueue(encoder.encode(parts[at++]));
    },
    cancel: cancelled,
  });
}

/**
 * A provider: `next` takes a body and says what the model says, or a `Response`. `sent` has each request with its text, its path and its
 * headers, in the order in which they came.
 */
export function scriptedProvider(next, how) {
  const sent = [];
  let count = 0;
  const answer = async (request) => {
    const url = new URL(request.url);
    const text = await request.text();
    const one = {
      method: request.method,
      path: url.pathname,
      search: url.search,
      host: url.host,
      text,
      headers: Object.fromEntries(request.headers),
      signal: request.signal,
      get body() {
        return JSON.parse(text);
      },
    };
    sent.push(one);
    const [, named, how] = /\/models\/([^:]+):(\w+)$/.exec(url.pathname) ?? [];
    const language = LANGUAGES[url.pathname] ?? (/enerateContent$/.test(how) ? { whole: contentOf, events: contentEvents } : undefined);
    if (!language) return Response.json({ path: url.pathname, text });
    const said = await next(one.body, one);
    if (said instanceof Response) return said;
    const id = `${url.pathname.split("/")[2]}_${(count += 1)}`;
    const { stream = how === "streamGenerateContent", model = named } = one.body;
    if (!stream) return Response.json(language.whole(said, id, model));
    return new Response(streamed(language.events(said, id, model, one.body), how), { headers: { "content-type": "text/event-stream; charset=utf-8" } });
  };
  return { sent, answer };
}

/** How the events of an answer are written, for a test of their grammar. */
export const eventsOf = (path, said, id, model, body) => (LANGUAGES[path]?.events ?? contentEvents)(said, id, model, body);
