// What the conformance suite asks of a server: the tools, prompts and resources that its scenarios name, on the official SDK.
// Each is written once for all revisions: where the revision has no requests from server to client, the SDK returns
// `input_required`; where it has them, the SDK sends `elicitation/create` and the like and calls the handler again.
import { setTimeout as sleep } from "node:timers/promises";
import {
  McpServer,
  ResourceTemplate,
  acceptedContent,
  completable,
  createRequestStateCodec,
  fromJsonSchema,
  inputRequired,
  inputResponse,
} from "@modelcontextprotocol/server";
import { SkillsExtension, memorySkillFiles } from "@modelcontextprotocol/server/ext/skills";
import { z } from "zod";
import { registerTasks } from "./conformance-tasks.mjs";

/** A PNG of one red pixel, and a WAV without a sample. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

const text = (value) => ({ type: "text", text: value });
const said = (value) => ({ content: [text(value)] });
const strings = (...names) => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
  required: names,
});
const user = (content) => ({ role: "user", content });

/** Signs the state of a call of several rounds, which the client holds between them. */
const states = createRequestStateCodec({ key: crypto.getRandomValues(new Uint8Array(32)), ttlSeconds: 60 });

const ask = (message, schema) => inputRequired.elicit({ message, requestedSchema: schema });
const askModel = (prompt, maxTokens = 100) => inputRequired.createMessage({ messages: [user(text(prompt))], maxTokens });
const answerOf = (ctx, key) => acceptedContent(ctx.mcpReq.inputResponses, key);
const rootsOf = (ctx, key) => {
  const answer = inputResponse(ctx.mcpReq.inputResponses, key);
  return answer.kind === "roots" ? answer.roots : undefined;
};
const sampleOf = (ctx, key) => {
  const answer = inputResponse(ctx.mcpReq.inputResponses, key);
  return answer.kind === "sampling" ? answer.result.content : undefined;
};

/** A tool that shows the user a form and says what came back, declined or not. */
const form = (message, schema, word) => async (args, ctx) => {
  const answer = inputResponse(ctx.mcpReq.inputResponses, "form");
  if (answer.kind !== "elicit") return inputRequired({ inputRequests: { form: ask(typeof message === "function" ? message(args) : message, schema) } });
  return said(`${word}: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`);
};

const choices = (...pairs) => pairs.map(([value, title]) => ({ const: value, title }));

/** A schema with what JSON Schema 2020-12 has beyond `properties`. */
const dialect = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: { address: { $anchor: "addressDef", type: "object", properties: { street: { type: "string" }, city: { type: "string" } } } },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

/** The tools: `[description, input schema, handler]` by name. `host` is what a tool needs of its server. */
const tools = (host) => ({
  test_simple_text: ["Returns a text.", {}, () => said("This is a simple text response for testing.")],
  test_image_content: ["Returns an image.", {}, () => ({ content: [{ type: "image", data: PNG, mimeType: "image/png" }] })],
  test_audio_content: ["Returns a sound.", {}, () => ({ content: [{ type: "audio", data: WAV, mimeType: "audio/wav" }] })],
  test_embedded_resource: [
    "Returns a resource with its text.",
    {},
    () => ({
      content: [{ type: "resource", resource: { uri: "test://embedded-resource", mimeType: "text/plain", text: "This is an embedded resource content." } }],
    }),
  ],
  test_multiple_content_types: [
    "Returns a text, an image and a resource.",
    {},
    () => ({
      content: [
        text("Multiple content types test:"),
        { type: "image", data: PNG, mimeType: "image/png" },
        {
          type: "resource",
          resource: { uri: "test://mixed-content-resource", mimeType: "application/json", text: JSON.stringify({ test: "data", value: 123 }) },
        },
      ],
    }),
  ],
  test_error_handling: [
    "Always fails.",
    {},
    () => {
      throw new Error("This tool intentionally returns an error for testing");
    },
  ],
  test_tool_with_logging: [
    "Logs three messages while it works.",
    {},
    async (_, ctx) => {
      await ctx.mcpReq.log("info", "Tool execution started");
      await sleep(50);
      await ctx.mcpReq.log("info", "Tool processing data");
      await sleep(50);
      await ctx.mcpReq.log("info", "Tool execution completed");
      return said("Logged three messages.");
    },
  ],
  test_logging_tool: [
    "Logs one message, for who asks for messages.",
    {},
    async (_, ctx) => {
      await ctx.mcpReq.log("info", "Only for a request with a log level");
      return said("Logged one message.");
    },
  ],
  test_tool_with_progress: [
    "Reports its progress three times.",
    {},
    async (_, ctx) => {
      const progressToken = ctx.mcpReq._meta?.progressToken;
      for (const progress of [0, 50, 100]) {
        if (progress > 0) await sleep(50);
        if (progressToken !== undefined) await ctx.mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
      }
      return said("Made all its progress.");
    },
  ],
  test_reconnection: [
    "Closes the stream of its answer before it answers, so that the client has to come back for it.",
    {},
    async (_, ctx) => {
      ctx.http?.closeSSE?.();
      await sleep(100);
      return said("Answered after the stream was closed.");
    },
  ],
  test_sampling: [
    "Asks the client's model.",
    strings("prompt"),
    ({ prompt }, ctx) => {
      const content = sampleOf(ctx, "answer");
      if (content === undefined) return inputRequired({ inputRequests: { answer: askModel(prompt) } });
      return said(`LLM response: ${content.text ?? JSON.stringify(content)}`);
    },
  ],
  test_elicitation: [
    "Asks the user for a name and an address.",
    strings("message"),
    form(
      ({ message }) => message,
      {
        type: "object",
        properties: { username: { type: "string", description: "User's response" }, email: { type: "string", description: "User's email address" } },
        required: ["username", "email"],
      },
      "User response",
    ),
  ],
  test_elicitation_sep1034_defaults: [
    "Shows a form with a default for each primitive type.",
    {},
    form(
      "Please review the defaults",
      {
        type: "object",
        properties: {
          name: { type: "string", default: "John Doe" },
          age: { type: "integer", default: 30 },
          score: { type: "number", default: 95.5 },
          status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
          verified: { type: "boolean", default: true },
        },
      },
      "Elicitation completed",
    ),
  ],
  test_elicitation_sep1330_enums: [
    "Shows a form with each kind of choice.",
    {},
    form(
      "Please choose",
      {
        type: "object",
        properties: {
          untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
          titledSingle: { type: "string", oneOf: choices(["value1", "First Option"], ["value2", "Second Option"], ["value3", "Third Option"]) },
          legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["Option One", "Option Two", "Option Three"] },
          untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
          titledMulti: { type: "array", items: { anyOf: choices(["value1", "First Choice"], ["value2", "Second Choice"], ["value3", "Third Choice"]) } },
        },
      },
      "Elicitation completed",
    ),
  ],
  json_schema_2020_12_tool: ["Tool with JSON Schema 2020-12 features", dialect, () => said("The arguments fit the schema.")],
  test_header_parameters: [
    "Takes parameters that travel in headers, too.",
    {
      type: "object",
      properties: { region: { type: "string", "x-mcp-header": "Region" }, limit: { type: "integer", "x-mcp-header": "Limit" } },
      required: ["region"],
    },
    ({ region }) => said(`Region: ${region}`),
  ],
  test_missing_capability: [
    "Cannot work without a client that samples.",
    {},
    (_, ctx) =>
      sampleOf(ctx, "needed") === undefined ? inputRequired({ inputRequests: { needed: askModel("Say something.") } }) : said("The client samples."),
  ],
  test_streaming_elicitation: [
    "Reports progress and then asks the user.",
    {},
    async (_, ctx) => {
      if (answerOf(ctx, "confirm")) return said("Confirmed.");
      const progressToken = ctx.mcpReq._meta?.progressToken;
      if (progressToken !== undefined) await ctx.mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress: 1 } });
      return inputRequired({ inputRequests: { confirm: ask("Go on?", { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] }) } });
    },
  ],
  test_trigger_tool_change: ["Adds a tool, or takes it away again.", {}, () => (host.toggle("tools"), said("The list of tools has changed."))],
  test_trigger_prompt_change: ["Adds a prompt, or takes it away again.", {}, () => (host.toggle("prompts"), said("The list of prompts has changed."))],
  test_input_required_result_elicitation: [
    "Asks the user for a name.",
    {},
    (_, ctx) => {
      const name = answerOf(ctx, "user_name")?.name;
      return name === undefined ? inputRequired({ inputRequests: { user_name: ask("What is your name?", strings("name")) } }) : said(`Hello, ${name}!`);
    },
  ],
  test_input_required_result_sampling: [
    "Asks the client's model for a capital.",
    {},
    (_, ctx) => {
      const content = sampleOf(ctx, "capital_question");
      return content === undefined
        ? inputRequired({ inputRequests: { capital_question: askModel("What is the capital of France?") } })
        : { content: [content].flat() };
    },
  ],
  test_input_required_result_list_roots: [
    "Asks the client for its roots.",
    {},
    (_, ctx) => {
      const roots = rootsOf(ctx, "client_roots");
      return roots === undefined
        ? inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } })
        : said(`Roots: ${roots.map(({ uri }) => uri).join(", ")}`);
    },
  ],
  test_input_required_result_request_state: [
    "Asks the user to confirm, with a state that must come back.",
    {},
    async (_, ctx) => {
      const state = ctx.mcpReq.requestState();
      if (state?.waits === "confirm" && answerOf(ctx, "confirm")) return said("state-ok");
      return inputRequired({
        inputRequests: { confirm: ask("Please confirm", { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] }) },
        requestState: await states.mint({ waits: "confirm" }),
      });
    },
  ],
  test_input_required_result_multiple_inputs: [
    "Asks the user, the model and for the roots at once.",
    {},
    async (_, ctx) => {
      const name = answerOf(ctx, "user_name")?.name;
      const greeting = sampleOf(ctx, "greeting");
      const roots = rootsOf(ctx, "client_roots");
      if (ctx.mcpReq.requestState()?.waits === "all" && name !== undefined && greeting !== undefined && roots !== undefined) {
        return said(`${greeting.text ?? "Hello"} ${name}, of ${roots.length} roots.`);
      }
      return inputRequired({
        inputRequests: {
          user_name: ask("What is your name?", strings("name")),
          greeting: askModel("Generate a greeting", 50),
          client_roots: inputRequired.listRoots(),
        },
        requestState: await states.mint({ waits: "all" }),
      });
    },
  ],
  test_input_required_result_multi_round: [
    "Asks the user twice, the second time after the first answer.",
    {},
    async (_, ctx) => {
      const state = ctx.mcpReq.requestState();
      const color = answerOf(ctx, "step2")?.color;
      if (state?.step === 2 && color !== undefined) return said(`${state.name} likes ${color}.`);
      const name = answerOf(ctx, "step1")?.name ?? state?.name;
      if (state !== undefined && name !== undefined) {
        return inputRequired({
          inputRequests: { step2: ask("Step 2: What is your favorite color?", strings("color")) },
          requestState: await states.mint({ step: 2, name }),
        });
      }
      return inputRequired({ inputRequests: { step1: ask("Step 1: What is your name?", strings("name")) }, requestState: await states.mint({ step: 1 }) });
    },
  ],
  test_input_required_result_tampered_state: [
    "Asks the user to confirm, with a state that nobody can change.",
    {},
    async (_, ctx) => {
      if (ctx.mcpReq.requestState() !== undefined && answerOf(ctx, "confirm")) return said("The state is as it was.");
      return inputRequired({
        inputRequests: { confirm: ask("Please confirm", { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] }) },
        requestState: await states.mint({ signed: true }),
      });
    },
  ],
  test_input_required_result_capabilities: [
    "Asks only what the client can answer.",
    {},
    (_, ctx) => {
      const { sampling, elicitation } = host.clientCapabilities() ?? {};
      if (sampleOf(ctx, "model") !== undefined || answerOf(ctx, "user") !== undefined) return said("Answered.");
      return inputRequired({
        inputRequests: {
          ...(sampling ? { model: askModel("Say something.") } : {}),
          ...(elicitation ? { user: ask("Say something.", strings("words")) } : {}),
        },
      });
    },
  ],
});

/** The resources by URI: `[name, MIME type, content]`. */
const resources = {
  "test://static-text": ["static-text", "text/plain", { text: "This is the content of the static text resource." }],
  "test://static-binary": ["static-binary", "image/png", { blob: PNG }],
  "test://watched-resource": ["watched-resource", "text/plain", { text: "A resource to subscribe to." }],
};

/** The skills of the extension for them (SEP-2640). */
const skills = await SkillsExtension.load(
  memorySkillFiles({
    "count-words/SKILL.md":
      "---\nname: count-words\ndescription: Counts the words of a text. Use it when a length is asked for.\n---\n\n# Count words\n\nSee references/RULES.md.\n",
    "count-words/references/RULES.md": "# Rules\n\nA word ends at white space.\n",
  }),
);

/**
 * Makes the server of one session, or of one request of a revision without sessions. `shared` is what all of them have in
 * common: `has(list)` says whether the tool or the prompt that comes and goes is there, `toggle(list)` changes that.
 * `has_tasks`: whether calls may become tasks, which is for revision 2026-07-28 alone. Returns it with these two, to follow a change.
 */
export function featureServer(shared, { has_tasks = false } = {}) {
  const mcp = new McpServer(
    { name: "conformance-upstream", version: "1.0.0" },
    {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        logging: {},
        completions: {},
      },
      requestState: { verify: states.verify },
    },
  );
  const host = { toggle: (list) => shared.toggle(list), clientCapabilities: () => mcp.server.getClientCapabilities() };
  for (const [name, [description, schema, run]] of Object.entries(tools(host))) {
    mcp.registerTool(name, { description, inputSchema: fromJsonSchema({ type: "object", ...schema }) }, run);
  }
  const dynamic = {
    tools: mcp.registerTool("test_dynamic_tool", { description: "Comes and goes." }, () => said("I am here.")),
    prompts: mcp.registerPrompt("test_dynamic_prompt", { description: "Comes and goes." }, () => ({ messages: [user(text("I am here."))] })),
  };
  for (const [list, entry] of Object.entries(dynamic)) if (!shared.has(list)) entry.disable();

  for (const [uri, [name, mimeType, content]] of Object.entries(resources)) {
    mcp.registerResource(name, uri, { description: `The resource ${name}.`, mimeType }, () => ({ contents: [{ uri, mimeType, ...content }] }));
  }
  mcp.registerResource(
    "template",
    new ResourceTemplate("test://template/{id}/data", { list: undefined, complete: { id: (value) => ["123", "456"].filter((id) => id.startsWith(value)) } }),
    { description: "A resource for each id.", mimeType: "application/json" },
    (uri, { id }) => ({
      contents: [{ uri: uri.href, mimeType: "application/json", text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) }],
    }),
  );
  skills.attach(mcp);
  if (has_tasks) registerTasks(mcp, { inputRequired, ask, answerOf, strings });
  registerPrompts(mcp);
  return { mcp, dynamic };
}

function registerPrompts(mcp) {
  mcp.registerPrompt("test_simple_prompt", { description: "A prompt without arguments." }, () => ({
    messages: [user(text("This is a simple prompt for testing."))],
  }));
  mcp.registerPrompt(
    "test_prompt_with_arguments",
    {
      description: "A prompt of two arguments.",
      argsSchema: z.object({
        arg1: completable(z.string().describe("First test argument"), (value) => ["paris", "park", "party", "test"].filter((word) => word.startsWith(value))),
        arg2: z.string().describe("Second test argument"),
      }),
    },
    ({ arg1, arg2 }) => ({ messages: [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))] }),
  );
  mcp.registerPrompt(
    "test_prompt_with_embedded_resource",
    { description: "A prompt with a resource in it.", argsSchema: z.object({ resourceUri: z.string().describe("URI of the resource to embed") }) },
    ({ resourceUri }) => ({
      messages: [
        user({ type: "resource", resource: { uri: resourceUri, mimeType: "text/plain", text: "Embedded resource content for testing." } }),
        user(text("Please process the embedded resource above.")),
      ],
    }),
  );
  mcp.registerPrompt("test_prompt_with_image", { description: "A prompt with an image in it." }, () => ({
    messages: [user({ type: "image", data: PNG, mimeType: "image/png" }), user(text("Please analyze the image above."))],
  }));
  mcp.registerPrompt("test_input_required_result_prompt", { description: "A prompt that asks the user first." }, (ctx) => {
    const context = answerOf(ctx, "user_context")?.context;
    if (context === undefined) return inputRequired({ inputRequests: { user_context: ask("What context should the prompt use?", strings("context")) } });
    return { messages: [user(text(`Use this context: ${context}`))] };
  });
}
