// A chat of the AI SDK, versions 6 and 7: what is stored are UI messages, and every turn begins with them.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { ANSWER, BUDGET, FIND_ROW, PICTURE, orders, textsOf } from "./agent-session.mjs";
import { SDKS, call, modelOf, said, sessionWith } from "./ai-sdk-models.mjs";
import { project } from "./harness.mjs";

const folder = await project("ai-sdk-ui", { "entry.mjs": `export * from "contextweaver/ai-sdk"; export { countTokens } from "contextweaver";` });
const { contextWeaver, countTokens } = await import(pathToFileURL(join(folder, "entry.mjs")));
const { accepts } = sessionWith(countTokens);

const sent = ({ prompt }) => textsOf(prompt, ["providerOptions"]).join("\n");
const text = (words) => ({ type: "text", text: words });
const thought = { type: "reasoning", text: "An export is large.", providerMetadata: { scripted: { signature: "s1" } } };
/** A picture of one pixel. */
const PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** How the chat is served: in each step of the loop, or around the model. */
const FORMS = {
  "in each step": (sdk, model, tools, options) => {
    const served = contextWeaver({ ...options, tools });
    return { served, settings: { model, tools: served.tools, prepareStep: served.prepareStep } };
  },
  "around the model": (sdk, model, tools, options) => {
    const served = contextWeaver(options);
    return { served, settings: { model: sdk.wrapLanguageModel({ model, middleware: served }), tools } };
  },
};

/** What a host does: it stores messages as JSON, and answers by all that it has. */
class Chat {
  messages = [];
  #at = 0;

  constructor(sdk, settings) {
    Object.assign(this, { sdk, settings });
  }

  /** A turn of the user, or, without one, an answer that goes on. */
  async turn(parts, { abort } = {}) {
    const { sdk, settings } = this;
    if (parts) this.messages.push({ id: `u${this.#at++}`, role: "user", parts });
    const convertDataPart = ({ type, data }) => (type === "data-place" ? text(`The user is in ${data.city}.`) : undefined);
    const messages = await sdk.convertToModelMessages(this.messages, { tools: settings.tools, convertDataPart, ignoreIncompleteToolCalls: true });
    const errors = [];
    const result = sdk.streamText({
      ...settings,
      messages,
      stopWhen: sdk.stop(8),
      abortSignal: abort?.signal,
      onError: ({ error }) => void errors.push(error),
    });
    const last = this.messages.at(-1);
    const chunks = result.toUIMessageStream({ originalMessages: this.messages, generateMessageId: () => `a${this.#at++}`, sendReasoning: true });
    for await (const message of sdk.readUIMessageStream({ stream: chunks, ...(last.role === "assistant" && { message: last }) })) {
      this.messages = JSON.parse(JSON.stringify([...this.messages.filter(({ id }) => id !== message.id), message]));
    }
    assert.deepEqual(errors, []);
    return this.messages.at(-1);
  }

  /** The user grants or denies what is asked of them. */
  decide(decisions) {
    for (const message of this.messages) {
      for (const part of message.parts) {
        const { approval, state, toolCallId } = part;
        if (state === "approval-requested") Object.assign(part, { state: "approval-responded", approval: { ...approval, ...decisions[toolCallId] } });
      }
    }
  }
}

for (const [version, sdk] of Object.entries(SDKS)) {
  for (const [form, make] of Object.entries(FORMS)) {
    const begin = (turns, more = {}) => {
      const asked = [];
      const paid = [];
      const model = modelOf(sdk, (params) => {
        accepts(params);
        params.abortSignal?.throwIfAborted();
        asked.push(params);
        return turns.shift()(params);
      });
      const tools = {
        export_orders: sdk.tool({ description: "Read the export of all orders", inputSchema: z.object({}), execute: async () => orders() }),
        take_picture: sdk.tool({
          description: "Take a picture",
          inputSchema: z.object({}),
          execute: async () => ({ data: PICTURE }),
          toModelOutput: () => ({ type: "content", value: [text("the desk"), sdk.picture(PICTURE)] }),
        }),
        pay: sdk.tool({
          description: "Pay",
          inputSchema: z.object({ to: z.string() }),
          needsApproval: true,
          execute: async ({ to }) => (paid.push(to), `paid ${to}`),
        }),
        ...more,
      };
      const steps = [];
      const { served, settings } = make(sdk, model, tools, { budget_tokens: BUDGET, on_step: (step) => steps.push(step) });
      return { asked, paid, steps, chat: new Chat(sdk, settings), manager: served.manager, free: () => served.free() };
    };
    const says = (words) => () => said([text(words)]);

    test(`AI SDK ${version}, a chat served ${form}: files, data, reasoning, tools, approvals`, async () => {
      const { asked, paid, steps, chat, manager, free } = begin([
        () => said([thought, text("I read it."), call("c0", "export_orders", {}), call("c1", "take_picture", {})]),
        says("It is read."),
        () => said([call("p1", "pay", { to: "Ada" }), call("p2", "pay", { to: "Mallory" })]),
        says("Paid one."),
        (params) => {
          assert.ok(!sent(params).includes(ANSWER));
          return said([call("d1", "drilldown", { handle: "artifact:result:c0", selector: FIND_ROW })]);
        },
        says(ANSWER),
        says("You are welcome."),
      ]);
      await chat.turn([
        text("Read the orders, as in this picture."),
        { type: "file", mediaType: "image/png", filename: "order.png", url: PIXEL },
        { type: "data-place", data: { city: "Paris" } },
      ]);
      assert.match(sent(asked[0]), /The user is in Paris/);
      assert.ok(JSON.stringify(asked[0].prompt).includes(PIXEL.split(",")[1]), "the user's picture did not arrive");
      assert.ok(JSON.stringify(asked[1].prompt).includes(PICTURE), "the tool's picture did not arrive");
      assert.ok(!sent(asked[1]).includes(ANSWER));
      await chat.turn([text("Pay both.")]);
      assert.ok(JSON.stringify(asked[2].prompt).includes(PICTURE), "the tool's picture was forgotten");
      const kept = asked[2].prompt.flatMap(({ content }) => content).find(({ type }) => type === "reasoning");
      assert.deepEqual([kept?.text, kept?.providerOptions], [thought.text, thought.providerMetadata]);
      chat.decide({ p1: { approved: true }, p2: { approved: false, reason: "not to her" } });
      await chat.turn();
      assert.deepEqual(paid, ["Ada"]);
      for (const outcome of [/paid Ada/, /not to her/]) assert.match(sent(asked[3]), outcome);
      const last = await chat.turn([text("Which parcel is it?")]);
      assert.ok(sent(asked[5]).includes(ANSWER));
      const read = last.parts.find(({ toolCallId }) => toolCallId === "d1");
      assert.deepEqual([read.state, read.output.includes(ANSWER)], ["output-available", true]);
      await chat.turn([text("Thank you.")]);
      assert.ok(sent(asked[6]).includes(ANSWER));
      assert.equal(asked.length, 7);
      assert.equal(manager.events.count({ kinds: ["tool_call"] }), 5);
      // What ran after an approval stands in another message once it is stored; everything else is as it was.
      const edits = steps.filter(({ synced }) => synced.superseded.length > 0);
      assert.deepEqual(
        edits.map(({ synced }) => synced.superseded.filter((id) => id.startsWith("result:")).sort()),
        [["result:p1", "result:p2"]],
      );
      assert.deepEqual(
        steps.flatMap(({ warnings }) => warnings),
        [],
      );
      assert.deepEqual(
        chat.messages.map(({ role }) => role),
        ["user", "assistant", "user", "assistant", "user", "assistant", "user", "assistant"],
      );
      free();
    });

    test(`AI SDK ${version}, a chat served ${form}: edited, trimmed, aborted, and taken up by another process`, async () => {
      const abort = new AbortController();
      const hang = sdk.tool({
        description: "Hangs",
        inputSchema: z.object({}),
        execute: async (_, { abortSignal }) => (abort.abort(), abortSignal.throwIfAborted()),
      });
      const turns = [
        says("Hello Ada."),
        says("Paris, then."),
        says("Lyon, then."),
        () => said([call("h1", "hang", {})]),
        says("It went on."),
        says("Still here."),
      ];
      const { asked, chat, free } = begin(turns, { hang });
      await chat.turn([text("My name is Ada.")]);
      await chat.turn([text("I live in Paris.")]);
      // The user mends what was said last, and it is answered anew.
      chat.messages = [...chat.messages.slice(0, 2), { id: "edited", role: "user", parts: [text("I live in Lyon.")] }];
      await chat.turn();
      assert.match(sent(asked[2]), /Ada[^]*Lyon/);
      assert.doesNotMatch(sent(asked[2]), /Paris/);
      await chat.turn([text("Do it.")], { abort }).catch((error) => assert.match(String(error), /abort/i));
      // The host forgets the oldest turn; the log does not.
      chat.messages = chat.messages.slice(2);
      await chat.turn([text("Go on.")]);
      assert.match(sent(asked[4]), /Ada[^]*Lyon[^]*Do it[^]*Go on/);
      free();
      // Another process has the messages that were stored, and nothing else.
      const again = begin([says("Still here.")]);
      again.chat.messages = chat.messages;
      await again.chat.turn([text("Are you there?")]);
      assert.match(sent(again.asked[0]), /Lyon[^]*Do it[^]*It went on[^]*Are you there/);
      again.free();
    });
  }
}
