// Messages of providers and results of MCP tools on their way through a log, on the packed package.

const LISTS = {
  "openai-chat": [
    { role: "developer", content: "Be brief." },
    {
      role: "user",
      content: [
        { type: "text", text: "What is on it?" },
        { type: "image_url", image_url: { url: "https://example.org/a.png" } },
      ],
    },
    { role: "assistant", content: null, tool_calls: [{ id: "call_1", type: "function", function: { name: "look", arguments: '{"at":1}' } }] },
    { role: "tool", tool_call_id: "call_1", content: "a cat" },
    { role: "assistant", content: "A cat.", refusal: null },
  ],
  "openai-responses": [
    { role: "user", content: "hello" },
    { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAA" },
    { type: "function_call", id: "fc_1", call_id: "call_1", name: "look", arguments: "{}" },
    { type: "function_call_output", call_id: "call_1", output: "a cat" },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "A cat.", annotations: [] }] },
  ],
  anthropic: [
    { role: "user", content: "hello" },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm", signature: "c2ln" },
        { type: "tool_use", id: "toolu_1", name: "look", input: { at: 1 } },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: [{ type: "text", text: "a cat" }] }] },
    { role: "assistant", content: "A cat." },
  ],
  gemini: [
    { role: "user", parts: [{ text: "hello" }] },
    { role: "model", parts: [{ functionCall: { name: "look", args: { at: 1 } }, thoughtSignature: "c2ln" }] },
    { role: "user", parts: [{ functionResponse: { name: "look", response: { result: "a cat" } } }] },
    { role: "model", parts: [{ text: "A cat." }] },
  ],
  "ai-sdk-ui": [
    { id: "m1", role: "user", parts: [{ type: "text", text: "hello" }] },
    {
      id: "m2",
      role: "assistant",
      parts: [
        { type: "step-start" },
        { type: "tool-look", toolCallId: "call_1", state: "output-available", input: { at: 1 }, output: "a cat" },
        { type: "step-start" },
        { type: "text", text: "A cat.", state: "done" },
      ],
    },
  ],
  "ai-sdk-model": [
    { role: "user", content: "hello" },
    { role: "assistant", content: [{ type: "tool-call", toolCallId: "call_1", toolName: "look", input: { at: 1 } }] },
    {
      role: "tool",
      content: [{ type: "tool-result", toolCallId: "call_1", toolName: "look", output: { type: "text", value: "a cat" } }],
    },
    { role: "assistant", content: "A cat." },
  ],
};

const LOGGED = [
  { id: "u1", kind: "user_turn", text: "read the log" },
  { id: "c1", kind: "tool_call", text: "read_log()" },
];

const copy = (value) => JSON.parse(JSON.stringify(value));

/** `{ name: (cw, assert) => … }` */
export const messageCases = {
  ...Object.fromEntries(
    Object.entries(LISTS).map(([format, messages]) => [
      `${format}: messages come back as they were, also through a log`,
      (cw, assert) => {
        const before = copy(messages);
        const { items, warnings } = cw.messagesToItems(messages, format);
        assert.deepEqual(warnings, []);
        assert.deepEqual(cw.itemsToMessages(items, format).messages, before);
        const manager = new cw.ContextManager();
        const { ids } = manager.ingestMessages(messages, format);
        assert.deepEqual(
          ids,
          items.map(({ id }) => id),
        );
        assert.deepEqual(messages, before);
        const built = cw.ContextManager.fromJSON(JSON.stringify(manager)).buildMessages({ phase: "answer", format });
        assert.deepEqual(built.messages, before);
        assert.ok(built.tokens >= built.pack.stats.prompt_tokens);
        for (const other of Object.keys(LISTS)) {
          const text = JSON.stringify(cw.itemsToMessages(items, other));
          for (const part of ["look", "a cat", "A cat."]) assert.ok(text.includes(part), `${other}: ${part}`);
        }
        manager.free();
      },
    ]),
  ),

  "messages go on where others ended"(cw, assert) {
    const manager = new cw.ContextManager();
    const [system, user, call, result, answer] = LISTS["openai-chat"];
    const first = manager.ingestMessages([system, user, call], "openai-chat");
    const second = manager.ingestMessages([result, answer], "openai-chat");
    assert.deepEqual([first.warnings, second.warnings], [[], []]);
    assert.equal(new Set([...first.ids, ...second.ids]).size, 5);
    assert.deepEqual(manager.buildMessages({ phase: "answer", format: "openai-chat" }).messages, LISTS["openai-chat"]);
    // The next result is made here, and belongs to a call that was read.
    manager.ingestMessages([{ ...call, tool_calls: [{ ...call.tool_calls[0], id: "call_2" }] }], "openai-chat");
    manager.ingestToolResult({ tool_call_id: "call_2", tool_name: "look", raw_output: "a dog" });
    const { messages } = manager.buildMessages({ phase: "answer", format: "anthropic" });
    assert.deepEqual(
      messages.at(-1).content.map(({ type, tool_use_id: id }) => [type, id]),
      [["tool_result", "call_2"]],
    );
    manager.free();
  },

  ...Object.fromEntries(
    Object.entries(LISTS).map(([format, messages]) => [
      `${format}: a conversation handed over again and again is one conversation`,
      (cw, assert) => {
        const manager = new cw.ContextManager();
        let before = 0;
        for (let end = 1; end <= messages.length; end++) {
          // What the model thought comes with what it led to: an answer that is handed over in parts loses ids.
          if (messages[end - 1].type === "reasoning") continue;
          // A client makes its messages anew, or hands over the same ones.
          const given = end % 2 ? structuredClone(messages.slice(0, end)) : messages.slice(0, end);
          const synced = manager.syncMessages(given, format);
          assert.deepEqual([synced.superseded, synced.unchanged, synced.warnings], [[], before, []]);
          before = end;
        }
        const [{ id: user_turn }] = manager.events.list({ kinds: ["user_turn"] }).slice(-1);
        assert.deepEqual(manager.syncMessages(messages, format), { added: [], superseded: [], unchanged: messages.length, user_turn, warnings: [] });
        assert.deepEqual(manager.buildMessages({ phase: "answer", format, close_calls: false }).messages, messages);
        const restored = cw.ContextManager.fromJSON(JSON.stringify(manager));
        assert.deepEqual(restored.syncMessages(messages, format).added, []);
        restored.free();
        manager.free();
      },
    ]),
  ),

  "a conversation may be edited, trimmed and written into"(cw, assert) {
    const manager = new cw.ContextManager();
    const said = (role, content) => ({ role, content });
    const talk = [said("user", "Refund order 1."), said("assistant", "Which one?"), said("user", "The red one.")];
    manager.syncMessages(talk, "openai-chat");
    const prompt = () => manager.build({ phase: "answer" }).prompt;
    // In place, as well as by a new list.
    talk[1].content = "The red or the blue one?";
    const edited = manager.syncMessages(talk, "openai-chat");
    assert.deepEqual([edited.added.length, edited.superseded.length, edited.unchanged], [1, 1, 2]);
    assert.ok(prompt().indexOf("blue") < prompt().indexOf("The red one."), prompt());
    assert.ok(!prompt().includes("Which one?"));
    assert.ok(manager.events.list().some((item) => item.text === "Which one?" && item.metadata.superseded === true));
    const trimmed = manager.syncMessages([...talk.slice(2), said("assistant", "Done.")], "openai-chat");
    assert.deepEqual([trimmed.added.length, trimmed.superseded.length], [1, 0]);
    assert.ok(prompt().includes("Refund order 1."));
    // An empty conversation has nothing that could follow on what was trimmed.
    assert.equal(manager.syncMessages([], "openai-chat").superseded.length, 4);
    manager.free();
  },

  "the place of a bad message counts from the first"(cw, assert) {
    const manager = new cw.ContextManager();
    const good = [
      { role: "user", content: "a" },
      { role: "assistant", content: "b" },
    ];
    manager.syncMessages(good, "openai-chat");
    const before = JSON.stringify(manager);
    const refused = (bad) => catchError(() => manager.syncMessages([...good, { role: "user", content: "c" }, bad], "openai-chat")).path;
    assert.equal(refused({ role: 7, content: "" }), "/messages/3/role");
    assert.equal(refused({ role: "assistant", content: "", tool_calls: 7 }), "/messages/3/tool_calls");
    assert.equal(catchError(() => manager.syncMessages("x", "openai-chat")).path, "/messages");
    assert.equal(JSON.stringify(manager), before);
    manager.free();
  },

  "instructions beside the messages are handed over with them"(cw, assert) {
    const manager = new cw.ContextManager();
    const messages = [{ role: "user", content: "a" }];
    manager.syncMessages(messages, "anthropic", { system: "Be brief." });
    messages.push({ role: "assistant", content: "b" });
    const next = manager.syncMessages(messages, "anthropic", { system: "Be brief." });
    assert.deepEqual([next.added.length, next.superseded.length, next.unchanged], [1, 0, 2]);
    const changed = manager.syncMessages(messages, "anthropic", { system: "Be long." });
    assert.deepEqual([changed.added.length, changed.superseded.length, changed.unchanged], [1, 1, 2]);
    assert.equal(manager.buildMessages({ phase: "answer", format: "anthropic" }).system, "Be long.");
    manager.free();
  },

  "a call that was logged as text is a call of its tool"(cw, assert) {
    const manager = new cw.ContextManager();
    manager.ingestAll(LOGGED);
    manager.ingestToolResult({ tool_call_id: "c1", tool_name: "read_log", raw_output: "ok" });
    manager.ingestAll([
      { id: "c2", kind: "tool_call", text: 'get_order {"id": 1}' },
      { id: "r2", kind: "tool_result", parent_id: "c2", text: "held" },
    ]);
    const { messages, warnings } = manager.buildMessages({ phase: "answer", format: "openai-chat" });
    const calls = messages.flatMap((message) => message.tool_calls ?? []).map((call) => call.function);
    assert.deepEqual(calls, [
      { name: "read_log", arguments: "{}" },
      { name: "get_order", arguments: '{"id": 1}' },
    ]);
    assert.deepEqual(warnings, []);
    manager.ingest({ id: "c3", kind: "tool_call", text: "look around" });
    const built = manager.buildMessages({ phase: "answer", format: "openai-chat" });
    const written = cw.itemsToMessages([{ id: "c3", kind: "tool_call", text: "look around" }], "openai-chat");
    for (const warned of [built.warnings, written.warnings]) {
      const mine = warned.filter(({ message }) => message.includes("c3")).map(({ code }) => code);
      assert.deepEqual(mine.slice(0, 2), ["ARGUMENTS_UNREAD", "NAME_MISSING"]);
    }
    manager.free();
  },

  "what a prompt cuts and masks is cut and masked in messages"(cw, assert) {
    const manager = new cw.ContextManager({ redact_secrets: true });
    const secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
    const long = Array.from({ length: 2000 }, (_, at) => `line ${at} of a report with many words in it`).join("\n");
    const call = LISTS["openai-chat"][2];
    manager.ingestMessages([{ role: "user", content: `use ${secret}` }, call, { role: "tool", tool_call_id: "call_1", content: long }], "openai-chat");
    const built = manager.buildMessages({
      phase: "answer",
      format: "openai-chat",
      budget_tokens: 500,
      header: "Above.",
      footer: "Below.",
    });
    const text = JSON.stringify(built);
    assert.ok(!text.includes(secret));
    assert.ok(text.length < 12_000, `${text.length} characters`);
    assert.ok(built.tokens <= 500);
    assert.deepEqual([built.messages[0].content, built.messages.at(-1).content], ["Above.", "Below."]);
    assert.deepEqual(
      built.messages.map(({ role }) => role),
      ["system", "user", "assistant", "tool", "user"],
    );
    manager.free();
  },

  "the budget of messages counts everything that is sent"(cw, assert) {
    const leaves = (value, found = []) => {
      if (typeof value === "string") found.push(value);
      else if (value && typeof value === "object") for (const inner of Object.values(value)) leaves(inner, found);
      return found;
    };
    const count = (texts) => texts.reduce((sum, text) => sum + cw.countTokens(text), 0);
    for (const format of Object.keys(LISTS)) {
      // Calls that nobody answered: what stands for their results is sent, too.
      const open = new cw.ContextManager({ active_turn: "trim" });
      open.ingest({ id: "u", kind: "user_turn", text: "go" });
      open.ingestAll(Array.from({ length: 300 }, (_, at) => ({ id: `c${at}`, kind: "tool_call", text: "f {}" })));
      // Tiny calls with long ids: most of what is sent is no text.
      const tiny = new cw.ContextManager();
      for (let at = 0; at < 100; at += 1) {
        const id = `call_abcdefghijklmnop${at}`;
        const call = { id, type: "function", function: { name: "f", arguments: "{}" } };
        tiny.ingestMessages(
          [
            { role: "assistant", content: null, tool_calls: [call] },
            { role: "tool", tool_call_id: id, content: "ok" },
          ],
          "openai-chat",
        );
      }
      tiny.ingest({ id: "u", kind: "user_turn", text: "so?" });
      for (const [manager, budget_tokens] of [
        [open, 3000],
        [tiny, 1000],
      ]) {
        // A prompt for itself uses the budget; one of a loop leaves room for what comes.
        for (const [running, least] of [
          [false, 0.5],
          [true, 0.25],
        ]) {
          const { messages, system, tokens, pack } = manager.buildMessages({ phase: "answer", format, budget_tokens, running });
          const sent = count(leaves([messages, system])) + 4 * messages.length;
          assert.ok(sent <= tokens && tokens <= budget_tokens, `${format}: ${sent} sent, ${tokens} counted of ${budget_tokens}`);
          assert.ok(tokens > least * budget_tokens, `${format}, ${running}: ${tokens} of ${budget_tokens}`);
          assert.equal(pack.stats.prompt_tokens, cw.countTokens(pack.prompt));
          assert.ok(pack.stats.prompt_tokens <= budget_tokens);
        }
        manager.free();
      }
    }
  },

  "what left a prompt is named in one message of the user, near the beginning"(cw, assert) {
    const log = [
      { id: "s1", kind: "policy", text: "You help a shop." },
      // The first request stays.
      { id: "u0", kind: "user_turn", text: "Good morning." },
      { id: "u1", kind: "user_turn", text: `My order is W-2378156. ${"It was for the office. ".repeat(120)}` },
      ...Array.from({ length: 90 }, (_, n) => ({ id: `a${n}`, kind: "agent_msg", text: `Shelf ${n}: ${"it was moved and swept. ".repeat(20)}` })),
      { id: "u2", kind: "user_turn", text: "What is left to be swept?" },
    ];
    const built = (options, format = "openai-chat", budget_tokens = 3000, running = false) => {
      const manager = new cw.ContextManager({ rules: false, ...options });
      manager.ingestAll(log);
      const { pack, ...made } = manager.buildMessages({ phase: "answer", query: "swept", format, budget_tokens, running });
      const found = manager.recall("W-2378156").excerpts.map(({ item_id }) => item_id);
      const read = { ...pack };
      manager.free();
      return { ...made, pack: read, found };
    };
    const text = "[LEFT OUT]\nrecall finds: W-2378156 (u1)";
    const ways = ["openai-chat", "anthropic", "gemini", "ai-sdk-model"].flatMap((format) => [
      [format, 3000, false],
      [format, 8000, true],
    ]);
    for (const [format, budget, running] of ways) {
      const { messages, pack, tokens, found } = built({ ledger: true }, format, budget, running);
      // A cut of a running prompt leaves the first request above it.
      const opening = `[POLICY]\nYou help a shop.\n\n${running ? "[USER]\nGood morning.\n\n" : ""}`;
      assert.ok(tokens <= budget && pack.prompt.startsWith(`${opening}${text}\n\n`), pack.prompt.slice(0, 200));
      const naming = messages.filter((message) => JSON.stringify(message).includes("recall finds"));
      assert.equal(naming.length, 1);
      assert.ok(naming[0].role === "user" && JSON.stringify(naming[0]).includes(JSON.stringify(text).slice(1, -1)));
      const before = messages.slice(0, messages.indexOf(naming[0])).filter(({ role }) => role !== "system");
      assert.ok(before.length <= (running ? 1 : 0));
      assert.deepEqual([pack.stats.ledger.identifiers, found[0]], [1, "u1"]);
      assert.ok(pack.stats.ledger.tokens <= 60);
    }
    const without = built({ ledger: false });
    assert.ok(!JSON.stringify(without).includes("recall finds") && !("ledger" in without.pack.stats));
    assert.equal(catchError(() => new cw.ContextManager({ ledger: "no" })).path, "/ledger");
  },

  "a result above its share enters a running prompt with the parts that are asked for, and is read on"(cw, assert) {
    for (const [count, query, wanted] of [
      [600, "Which parcel has order 4150?", "parcel 7024"],
      [3000, "Which parcel has order 6150?", "parcel 3943"],
    ]) {
      const manager = new cw.ContextManager();
      const build = () => manager.buildMessages({ phase: "answer", format: "openai-chat", query, budget_tokens: 8_000 });
      manager.ingest({ id: "u", kind: "user_turn", text: query });
      build();
      manager.ingest({ id: "c", kind: "tool_call", text: "read()" });
      const rows = Array.from({ length: count }, (_, n) => ({ id: 4000 + n, note: `parcel ${(n * 7919) % 10007}` }));
      manager.ingestToolResult({ tool_call_id: "c", tool_name: "read", raw_output: JSON.stringify(rows) });
      const { step, tokens, messages } = build();
      const { content } = messages.at(-1);
      assert.equal(step.hides, true, "what a digest stands for is hidden");
      assert.ok(content.includes(wanted), content.slice(0, 300));
      assert.ok(tokens > 1_000 && tokens <= 8_000, `${tokens} tokens of 8000`);
      manager.free();
    }
  },

  "a result that comes after its stub was sent does not take its place in silence"(cw, assert) {
    const manager = new cw.ContextManager();
    const call = { id: "a", type: "function", function: { name: "f", arguments: "{}" } };
    const conversation = [
      { role: "user", content: "go" },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "user", content: "And what time is it?" },
    ];
    const step = () => {
      manager.syncMessages(conversation, "openai-chat");
      return manager.buildMessages({ phase: "answer", format: "openai-chat" });
    };
    const before = step();
    conversation.push({ role: "tool", tool_call_id: "a", content: "done" });
    const after = step();
    const goesOn = JSON.stringify(after.messages.slice(0, before.messages.length)) === JSON.stringify(before.messages);
    assert.ok(goesOn || after.step.cut !== undefined, `${after.step.repeated_tokens} of ${before.tokens} tokens are said to repeat`);
    manager.free();
  },

  "calls that came one after the other keep their results"(cw, assert) {
    const manager = new cw.ContextManager();
    const call = (call_id) => ({ type: "function_call", call_id, name: "f", arguments: JSON.stringify({ call_id }) });
    const conversation = [{ role: "user", content: "go" }];
    let built;
    for (const next of [
      call("a"),
      call("b"),
      { type: "function_call_output", call_id: "a", output: "A" },
      { type: "function_call_output", call_id: "b", output: "B" },
    ]) {
      conversation.push(next);
      manager.syncMessages(conversation, "openai-responses");
      built = manager.buildMessages({ phase: "answer", format: "openai-responses" });
    }
    const calls = built.messages.filter(({ type }) => type === "function_call");
    assert.deepEqual(
      calls.map(({ call_id }) => call_id),
      ["a", "b"],
    );
    assert.deepEqual(built.warnings, []);
    manager.free();
  },

  "messages that cannot be read say where, and leave the log alone"(cw, assert) {
    const manager = new cw.ContextManager();
    const refused = (messages, format, code, path) => {
      const error = catchError(() => manager.ingestMessages(messages, format));
      assert.deepEqual([error.code, error.path], [code, path], error.message);
      assert.equal(manager.events.count(), 0);
    };
    refused("x", "openai-chat", "INVALID_INPUT", "/messages");
    refused([], "klingon", "INVALID_INPUT", "/format");
    refused([], 5, "INVALID_INPUT", "/format");
    const beside = catchError(() => manager.ingestMessages([], "openai-chat", { system: "Be brief." }));
    assert.deepEqual([beside.code, beside.path], ["UNSUPPORTED", "/system"]);
    refused([{ role: "user", content: 5 }], "openai-chat", "INVALID_INPUT", "/messages/0/content");
    refused([{ role: "user", content: "a" }, null], "anthropic", "INVALID_INPUT", "/messages/1");
    const own = JSON.parse('{"role":"user","content":"x","__proto__":{"polluted":1},"constructor":2}');
    manager.ingestMessages([own], "openai-chat");
    const [back] = manager.buildMessages({ phase: "answer", format: "openai-chat" }).messages;
    assert.equal(JSON.stringify(back), JSON.stringify(own));
    assert.equal({}.polluted, undefined);
    manager.free();
  },

  "dates, addresses and bytes in messages count as SDKs mean them"(cw, assert) {
    const png = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10]);
    // A view of the middle of a buffer, not all of it.
    const inside = new Uint8Array([0, ...png, 0]).subarray(1, 9);
    const large = Uint8Array.from({ length: 100_000 }, (_, at) => (at * 7919) % 251);
    const images = [png, inside, png.buffer, globalThis.Buffer?.from(png), large, new URL("https://example.org/a.png")].filter(Boolean);
    const wanted = images.map((image) => {
      if (image instanceof URL) return "https://example.org/a.png";
      return btoa(Array.from(new Uint8Array(image), (byte) => String.fromCharCode(byte)).join(""));
    });
    const content = images.map((image) => ({ type: "image", image }));
    const file = { type: "file", mediaType: "application/pdf", data: png, providerOptions: { own: { since: new Date(0) } } };
    const dated = { at: new Date(0), never: new Date(NaN), rows: [{ day: new Date(86_400_000) }] };
    const messages = [
      { role: "user", content: [{ type: "text", text: "what is this?" }, ...content, file] },
      { role: "assistant", content: [{ type: "tool-call", toolCallId: "c1", toolName: "f", input: { since: new Date(0) } }] },
      { role: "tool", content: [{ type: "tool-result", toolCallId: "c1", toolName: "f", output: { type: "json", value: dated } }] },
    ];
    const { items, warnings } = cw.messagesToItems(messages, "ai-sdk-model");
    assert.deepEqual(warnings, []);
    const manager = new cw.ContextManager();
    manager.ingestMessages(messages, "ai-sdk-model");
    for (const { messages: written } of [
      cw.itemsToMessages(items, "ai-sdk-model"),
      manager.buildMessages({ phase: "answer", format: "ai-sdk-model", budget_tokens: 20_000 }),
    ]) {
      const parts = written[0].content;
      assert.deepEqual(
        parts.slice(1, -1).map(({ image }) => image),
        wanted,
      );
      assert.deepEqual([parts.at(-1).data, parts.at(-1).providerOptions], ["iVBORw0KGgo=", { own: { since: "1970-01-01T00:00:00.000Z" } }]);
      assert.deepEqual(written[1].content[0].input, { since: "1970-01-01T00:00:00.000Z" });
      assert.deepEqual(written[2].content[0].output.value, copy(dated));
    }
    // Nothing of the caller's is changed.
    assert.ok(messages[0].content[1].image === png && dated.at instanceof Date && png.length === 8);
    manager.free();
    // What no SDK means by it is repaired, and what is no message's refused.
    const refused = (run, path) => {
      const error = catchError(run);
      assert.deepEqual([error.code, error.path], ["INVALID_INPUT", path], error.message);
    };
    const log = new cw.ContextManager();
    for (const odd of [new Map(), new Float64Array(2), new DataView(png.buffer), new (class Row {})()]) {
      const { warnings: odds } = log.ingestMessages([{ role: "user", content: [{ type: "image", image: odd }] }], "ai-sdk-model");
      assert.deepEqual([odds[0].code, odds[0].path], ["VALUE_REPAIRED", "/messages/0/content/0/image"]);
    }
    const item = { id: "a", kind: "user_turn", text: "x", metadata: { at: new Date(0) } };
    refused(() => log.ingest(item), "/metadata/at");
    refused(() => cw.itemsToMessages([item], "openai-chat"), "/items/0/metadata/at");
    // One of another realm, or of a class of its own; and one that lies.
    class Late extends Date {
      toISOString() {
        return "never";
      }
    }
    const lying = Object.assign(new Date(0), { toJSON: () => "never" });
    for (const at of [new Late(0), lying]) {
      const [, , result] = messages;
      const output = { type: "json", value: { at } };
      const list = [messages[1], { ...result, content: [{ ...result.content[0], output }] }];
      assert.equal(cw.messagesToItems(list, "ai-sdk-model").items[1].text, '{"at":"1970-01-01T00:00:00.000Z"}');
    }
    log.free();
  },

  "images of MCP tools are images of the provider"(cw, assert) {
    const png = "iVBORw0KGgo=";
    const image = { type: "image", data: png, mimeType: "image/png" };
    const wanted = {
      "openai-chat": "data:image/png;base64,",
      "openai-responses": '"input_image"',
      anthropic: '"media_type":"image/png"',
      gemini: '"inlineData"',
      "ai-sdk-model": '"image-data"',
    };
    for (const content of [[image], [{ type: "text", text: "Here it is:" }, image]]) {
      const manager = new cw.ContextManager();
      manager.ingestAll([
        { id: "u", kind: "user_turn", text: "draw" },
        { id: "c1", kind: "tool_call", text: "chart {}" },
      ]);
      const { item } = manager.ingestMcpResult({ tool_call_id: "c1", tool_name: "chart", result: { content } });
      assert.ok(item.text !== "(no content)", item.text);
      for (const one of [manager, cw.ContextManager.fromJSON(JSON.stringify(manager))]) {
        for (const [format, part] of Object.entries(wanted)) {
          const { messages, warnings } = one.buildMessages({ phase: "answer", format });
          const text = JSON.stringify(messages);
          assert.ok(text.includes(png) && text.includes(part) && warnings.length === 0, `${format}: ${text}`);
        }
        const shown = one.buildMessages({ phase: "answer", format: "ai-sdk-ui" });
        assert.ok(JSON.stringify(shown.messages).includes("[image: image/png, 1 KiB]"));
        assert.deepEqual(
          shown.warnings.map(({ code }) => code),
          ["MEDIA_LEFT_OUT"],
        );
      }
      // Without the store there is a line.
      const { messages, warnings } = cw.itemsToMessages(manager.events.list(), "anthropic");
      assert.ok(!JSON.stringify(messages).includes(png) && warnings.length === 1);
      manager.free();
    }
  },

  "resource links lead somewhere, unless they are withheld"(cw, assert) {
    const link = { type: "resource_link", name: "Report", uri: "demo://resource/2" };
    const text = (options) => cw.mcpResultToEnvelope({ content: [link] }, "find", options).full_text;
    assert.equal(text(), "Report: `demo://resource/2`");
    assert.equal(text({ resource_links: "withheld" }), "Report: (link withheld)");
    assert.equal(catchError(() => text({ resource_links: "no" })).path, "/resource_links");
    const manager = new cw.ContextManager();
    manager.ingest({ id: "c1", kind: "tool_call", text: "find {}" });
    const call = { tool_call_id: "c1", tool_name: "find", result: { content: [link] }, resource_links: "withheld" };
    assert.equal(manager.ingestMcpResult(call).item.text, "Report: (link withheld)");
    manager.free();
  },

  "messages of another format are refused by its name"(cw, assert) {
    const error = catchError(() => cw.messagesToItems(LISTS.anthropic, "openai-chat"));
    assert.deepEqual([error.code, error.path], ["INVALID_INPUT", "/messages/1/content/1/type"]);
    assert.ok(error.hint.includes("anthropic"), error.hint);
  },

  "messages are recognised, in a list or in a request"(cw, assert) {
    for (const [format, messages] of Object.entries(LISTS)) {
      assert.deepEqual(cw.findMessages(messages), { format });
      // The others have their instructions among the messages, and are not read with any beside them.
      const beside = format === "anthropic" && { system: "system" };
      assert.deepEqual(cw.findMessages({ model: "m", sent: new Date(0), messages, system: "Be brief." }), { format, list: "messages", ...beside });
    }
    for (const other of [undefined, null, 7, [], {}, { messages: "none" }, { messages: [], input: [] }]) assert.equal(cw.findMessages(other), undefined);
  },

  "results of MCP tools are taken apart, and nothing of them is lost"(cw, assert) {
    const manager = new cw.ContextManager();
    manager.ingest({ id: "c1", kind: "tool_call", text: "{}", metadata: { function_name: "shoot" } });
    const result = {
      content: [
        { type: "text", text: "shot" },
        { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" },
        { type: "resource", resource: { uri: "file:///a.bin", mimeType: "application/x", blob: "AAEC" } },
        { type: "later", x: 1 },
      ],
      structuredContent: { count: 42 },
    };
    const { envelope, binaries, full_text: text } = cw.mcpResultToEnvelope(result, "shoot");
    assert.ok(text.startsWith("shot"));
    assert.deepEqual([...binaries.get("mcp:shoot:image:1").bytes], [137, 80, 78, 71, 13, 10, 26, 10]);
    assert.ok(envelope.facts.includes("count: 42"));
    const taken = manager.ingestMcpResult({ tool_call_id: "c1", tool_name: "shoot", result });
    assert.equal(taken.item.parent_id, "c1");
    const handles = taken.envelope.artifacts.map(({ handle }) => handle);
    assert.deepEqual([...manager.artifacts.bytes("mcp:shoot:c1:resource:2")], [0, 1, 2], handles.join(" "));
    for (const handle of handles) assert.ok(manager.artifacts.bytes(handle).length > 0, handle);
    const again = catchError(() => manager.ingestMcpResult({ tool_call_id: "c1", tool_name: "shoot", result }));
    assert.equal(again.code, "DUPLICATE_ID");
    const small = new cw.ContextManager({ limits: { max_artifact_bytes: 100 } });
    const large = {
      content: [
        { type: "text", text: "x" },
        { type: "image", data: "AAAA".repeat(200) },
      ],
    };
    const full = catchError(() => small.ingestMcpResult({ tool_call_id: "c1", tool_name: "shoot", result: large }));
    assert.equal(full.code, "QUOTA_EXCEEDED");
    assert.deepEqual([small.events.count(), small.artifacts.list().length], [0, 0]);
    for (const bad of [null, 5, "x", [], undefined]) {
      const error = catchError(() => manager.ingestMcpResult({ tool_call_id: "c2", tool_name: "shoot", result: bad }));
      assert.ok(["INVALID_INPUT", "MISSING_FIELD"].includes(error.code), `${bad}: ${error.code}`);
    }
    for (const one of [manager, small]) one.free();
  },
};

function catchError(run) {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}
