// A chat agent in the framework's own class, with the session that all adapters play. Bundled and run in workerd.
import { AIChatAgent } from "@cloudflare/ai-chat";
import { routeAgentRequest } from "agents";
import { convertToModelMessages, streamText } from "ai";
import { countTokens } from "contextweaver";
import { r2Blobs } from "contextweaver/cloudflare";
import { withContextWeaver } from "contextweaver/cloudflare-agents";
import {
  BUDGET,
  FIND_ROW,
  RUN_INSTRUCTIONS,
  RUN_STEPS,
  RUN_TOOLS,
  STEPS,
  TASK,
  holdsTheRun,
  holdsTheSession,
  longRun,
  partOf,
  textsOf,
} from "./agent-session.mjs";
import { SDKS, call, modelOf, said, sdkTools, sessionWith } from "./ai-sdk-models.mjs";

const sdk = SDKS[7];
const { scripted } = sessionWith(countTokens);

export class Chat extends withContextWeaver(AIChatAgent) {
  waitForMcpConnections = false;
  #script;
  #problems = [];
  #steps = [];
  /** The budget of a run of forty steps. */
  #run;

  async onChatMessage() {
    return this.#run ? this.#onRun(this.#run) : this.#onSession();
  }

  /** Forty steps with large results, beside the same without contextweaver. */
  async #onRun(budget) {
    const tools = Object.fromEntries(
      RUN_TOOLS.map(({ name, description, schema }) => [
        name,
        sdk.tool({ description, inputSchema: sdk.jsonSchema(schema), execute: async ({ part }) => partOf(part) }),
      ]),
    );
    const [bare, requests, steps] = [[], [], []];
    const stopWhen = sdk.stop(RUN_STEPS);
    await sdk.generateText({
      model: modelOf(sdk, recorded(bare)),
      tools,
      stopWhen,
      instructions: RUN_INSTRUCTIONS,
      messages: [{ role: "user", content: [{ type: "text", text: TASK }] }],
    });
    const cw = await this.contextWeaver({ tools, budget_tokens: budget, blobs: r2Blobs(this.env.BUCKET), on_step: (step) => steps.push(step) });
    const result = streamText({
      model: modelOf(sdk, recorded(requests)),
      messages: await convertToModelMessages(this.messages, { tools: cw.tools }),
      tools: cw.tools,
      prepareStep: cw.prepareStep,
      stopWhen,
      instructions: RUN_INSTRUCTIONS,
      onError: ({ error }) => this.#problems.push(String(error?.stack ?? error)),
      onFinish: () => {
        try {
          holdsTheRun({ budget, requests, bare, steps, costs: cw.costs(), countTokens, manager: cw.manager });
        } catch (error) {
          this.#problems.push(String(error?.stack ?? error));
        }
      },
    });
    return result.toUIMessageStreamResponse();
  }

  async #onSession() {
    const { tools, executed } = sdkTools(sdk);
    const cw = await this.contextWeaver({
      tools,
      budget_tokens: BUDGET,
      blobs: r2Blobs(this.env.BUCKET),
      on_step: ({ built, tool_tokens, synced }) => this.#steps.push({ tokens: built.tokens + tool_tokens, superseded: synced.superseded.length }),
    });
    const result = streamText({
      model: this.#script,
      messages: await convertToModelMessages(this.messages, { tools: cw.tools }),
      tools: cw.tools,
      prepareStep: cw.prepareStep,
      stopWhen: sdk.stop(STEPS),
      instructions: "Be brief.",
      onError: ({ error }) => this.#problems.push(String(error?.stack ?? error)),
      onFinish: () => {
        if (this.#steps.length === STEPS) holdsTheSession(cw.manager, executed);
      },
    });
    return result.toUIMessageStreamResponse();
  }

  async onRequest(request) {
    const { text, script, run } = await request.json();
    [this.#problems, this.#steps, this.#run] = [[], [], run];
    if (script) this.#script = modelOf(sdk, SCRIPTS[script]());
    await this.saveMessages([...this.messages, { id: crypto.randomUUID(), role: "user", parts: [{ type: "text", text }] }]);
    const rows = this.ctx.storage.sql.exec("SELECT max(length(part)) AS longest, count(*) AS parts FROM contextweaver_parts").toArray()[0];
    return Response.json({ said: this.messages.at(-1).parts.at(-1), problems: this.#problems, steps: this.#steps, rows });
  }
}

/** The model of the run, with what it is sent. */
function recorded(requests) {
  const next = longRun();
  return ({ prompt: [system, ...messages], tools, toolChoice }) => {
    requests.push(JSON.parse(JSON.stringify({ head: [system, tools, toolChoice], messages })));
    const { text, calls = [] } = next();
    return said([{ type: "text", text }, ...calls.map(({ id, name, input }) => call(id, name, input))]);
  };
}

const SCRIPTS = {
  /** Sixty steps. */
  long: scripted,
  /** Reads on in the result of the first turn. */
  later: () => {
    let step = 0;
    return ({ prompt }) => {
      if (step++ === 0)
        return said([call("again", "drilldown", { handle: "artifact:result:c0", selector: { ...FIND_ROW, where: [{ column: "id", op: "=", value: 4100 }] } })]);
      const found = /parcel \d+/.exec(textsOf(prompt.slice(-1)).join(" "))?.[0] ?? "nothing";
      return said([{ type: "text", text: found }]);
    };
  },
};

export default { fetch: async (request, env) => (await routeAgentRequest(request, env)) ?? new Response("", { status: 404 }) };
