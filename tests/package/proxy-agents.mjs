// Agents on the official SDKs, as their users write them: each asks a model through a client, runs the calls, and goes on until there are none.
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";

const MODELS = { chat: "gpt-5", responses: "gpt-5", messages: "claude-opus-5", contents: "gemini-3-pro" };
const KEY = "sk-secret-of-the-user";

/** What each SDK calls a model by. `fetch` takes a `Request`. */
const clientOf = (api, fetch, options = {}) => {
  if (api === "contents") return new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: "http://127.0.0.1:8323" } });
  const given = { apiKey: KEY, maxRetries: 0, ...options, fetch: (url, init) => fetch(new Request(url, { ...init, ...(init?.body && { duplex: "half" }) })) };
  return api === "messages" ? new Anthropic({ baseURL: "http://127.0.0.1:8323", ...given }) : new OpenAI({ baseURL: "http://127.0.0.1:8323/v1", ...given });
};

/** An agent of one conversation: `ask` takes what the user says and returns what the agent answers. `tools` have `run`. */
export function agentOf(
  api,
  isStream,
  {
    fetch,
    tools,
    instructions,
    model = MODELS[api],
    params = {},
    client: options,
    history: before = [],
    onAnswer = () => undefined,
    onEvent = () => undefined,
  },
) {
  const client = clientOf(api, fetch, options);
  const history = [...before];
  let signal;
  const run = async (name, input) => String(await tools.find((tool) => tool.name === name).run(input));
  const named = { model, ...params };
  const requestOptions = () => signal && { signal };
  const rounds = {
    chat: async () => {
      const body = {
        ...named,
        messages: [{ role: "system", content: instructions }, ...history],
        tools: tools.map(({ name, description, schema }) => ({ type: "function", function: { name, description, parameters: schema } })),
      };
      let message;
      if (isStream) {
        const stream = client.chat.completions.stream({ ...body, stream_options: { include_usage: true } }, requestOptions());
        stream.on("chunk", onEvent);
        const answer = await stream.finalChatCompletion();
        onAnswer(answer);
        const { parsed: _, ...said } = answer.choices[0].message;
        message = {
          ...said,
          ...(said.tool_calls && {
            tool_calls: said.tool_calls.map(({ id, type, function: { name, arguments: args } }) => ({ id, type, function: { name, arguments: args } })),
          }),
        };
      } else {
        const answer = await client.chat.completions.create(body, requestOptions());
        onAnswer(answer);
        message = answer.choices[0].message;
      }
      history.push(message);
      for (const { id, function: called } of message.tool_calls ?? [])
        history.push({ role: "tool", tool_call_id: id, content: await run(called.name, JSON.parse(called.arguments)) });
      return message.tool_calls?.length ? undefined : message.content;
    },
    responses: async () => {
      const body = {
        ...named,
        store: false,
        include: ["reasoning.encrypted_content"],
        instructions,
        input: [...history],
        tools: tools.map(({ name, description, schema }) => ({ type: "function", name, description, parameters: schema, strict: false })),
      };
      let output = [];
      let response;
      if (isStream) {
        for await (const event of await client.responses.create({ ...body, stream: true }, requestOptions())) {
          onEvent(event);
          if (event.type === "response.output_item.done") output.push(event.item);
          if (event.type === "response.failed") throw new Error(event.response.error.message);
          if (event.type === "response.completed") response = event.response;
        }
      } else {
        response = await client.responses.create(body, requestOptions());
        output = response.output;
      }
      onAnswer(response);
      history.push(...output);
      const calls = output.filter(({ type }) => type === "function_call");
      for (const { call_id, name, arguments: args } of calls)
        history.push({ type: "function_call_output", call_id, output: await run(name, JSON.parse(args)) });
      const texts = output.filter(({ type }) => type === "message").flatMap(({ content }) => content.map(({ text }) => text));
      return calls.length > 0 ? undefined : texts.join("");
    },
    messages: async () => {
      const body = {
        ...named,
        max_tokens: 1_000,
        system: [{ type: "text", text: instructions, cache_control: { type: "ephemeral" } }],
        messages: [...history],
        tools: tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema })),
      };
      let message;
      if (isStream) {
        const stream = client.messages.stream(body, requestOptions());
        stream.on("streamEvent", onEvent);
        message = await stream.finalMessage();
      } else message = await client.messages.create(body, requestOptions());
      onAnswer(message);
      history.push({ role: "assistant", content: message.content });
      const calls = message.content.filter(({ type }) => type === "tool_use");
      if (calls.length > 0)
        history.push({
          role: "user",
          content: await Promise.all(calls.map(async ({ id, name, input }) => ({ type: "tool_result", tool_use_id: id, content: await run(name, input) }))),
        });
      return calls.length > 0
        ? undefined
        : message.content
            .filter(({ type }) => type === "text")
            .map(({ text }) => text)
            .join("");
    },
  };
  // This SDK takes no `fetch`.
  const asked = async (ask) => {
    const { fetch: before } = globalThis;
    globalThis.fetch = (url, init) => fetch(new Request(url, init));
    try {
      return await ask();
    } finally {
      globalThis.fetch = before;
    }
  };
  rounds.contents = async () => {
    const body = {
      model,
      contents: [...history],
      config: {
        ...(signal && { abortSignal: signal }),
        systemInstruction: instructions,
        tools: [{ functionDeclarations: tools.map(({ name, description, schema }) => ({ name, description, parametersJsonSchema: schema })) }],
      },
    };
    const parts = [];
    const take = (answer) => {
      onEvent({ candidates: answer.candidates, usageMetadata: answer.usageMetadata });
      parts.push(...(answer.candidates?.[0]?.content?.parts ?? []));
      return answer;
    };
    await asked(async () => {
      if (!isStream) return onAnswer(take(await client.models.generateContent(body)));
      let last;
      for await (const chunk of await client.models.generateContentStream(body)) last = take(chunk);
      return onAnswer(last);
    });
    // Agents give ids to calls that have none.
    for (const { functionCall: call } of parts) if (call) call.id ??= `own_${history.length}_${call.name}`;
    history.push({ role: "model", parts });
    const calls = parts.flatMap(({ functionCall: call }) => call ?? []);
    if (calls.length > 0)
      history.push({
        role: "user",
        parts: await Promise.all(
          calls.map(async ({ id, name, args }) => ({ functionResponse: { ...(id && { id }), name, response: { output: await run(name, args) } } })),
        ),
      });
    return calls.length > 0 ? undefined : parts.flatMap(({ text, thought }) => (thought ? [] : (text ?? ""))).join("");
  };
  return {
    history,
    key: KEY,
    /** Without a text it goes on where it stopped. */
    async ask(text, abortSignal) {
      signal = abortSignal;
      if (text !== undefined) history.push(api === "contents" ? { role: "user", parts: [{ text }] } : { role: "user", content: text });
      for (;;) {
        const said = await rounds[api]();
        if (said !== undefined) return said;
      }
    },
  };
}

/** The languages, whole and as streams. */
export const WAYS = ["chat", "responses", "messages", "contents"].flatMap((api) => [
  [api, false],
  [api, true],
]);
