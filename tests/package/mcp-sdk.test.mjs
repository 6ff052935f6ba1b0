// Clients and servers of the official SDKs of MCP exchange tools, results and the context of calls through the package.
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { has, manifest, project } from "./harness.mjs";
import { bytesOf, results, textsOf, tools } from "./mcp-sdk-features.mjs";
import { sdks } from "./mcp-sdk-peers.mjs";

const folder = await project("mcp-sdk");
const entry = join(folder, "node_modules", "contextweaver", manifest.exports["."].default);
const cw = await import(pathToFileURL(entry).href);

const OURS = ["2025-06-18", "2025-11-25", "2026-07-28"];
const plain = (value) => JSON.parse(JSON.stringify(value));
const byName = (list) => [...list].sort((a, b) => (a.name < b.name ? -1 : 1));

for (const { name, sdk, missing } of await sdks()) {
  test(name, async (t) => {
    if (!has(t, sdk, { missing })) return;
    for (const revision of sdk.revisions) {
      await t.test(`revision ${revision}`, async (t) => {
        for (const [what, run] of Object.entries(cases)) await t.test(what, () => run(sdk, revision));
      });
    }
  });
}

const cases = {
  async "tools come back whole"(sdk, revision) {
    const offered = tools({ modern: isModern(revision) });
    const answer = await connected(sdk, revision, { offered }, (peer) => peer.listTools());
    const list = byName(answer.tools);
    assert.deepEqual(list, byName(offered.map((tool) => known(tool, revision))));
    const before = JSON.stringify(list);

    const items = list.map((tool) => cw.mcpToolToSelectable(tool, { server: "peer" }));
    assert.deepEqual(
      items.flatMap(({ metadata }) => metadata._contextweaver.mcp.warnings ?? []),
      [],
    );
    for (const [index, { annotations = {} }] of list.entries()) {
      const { name, side_effects } = items[index];
      assert.equal(side_effects, annotations.readOnlyHint !== true || annotations.destructiveHint === true, name);
    }
    assert.equal(JSON.stringify(list), before);

    const catalog = cw.Catalog.fromMcp(answer, { server: "peer" });
    assert.deepEqual(catalog.findings(), []);
    for (const way of [items, catalog.items(), cw.Catalog.fromJSON(JSON.stringify(catalog)).items()]) {
      const written = way.map((item) => cw.selectableToMcpTool(item));
      assert.deepEqual(
        written.flatMap(({ report }) => report),
        [],
      );
      const relayed = written.map(({ tool }) => tool);
      assert.deepEqual(byName(plain(relayed)), list);
      assert.deepEqual(await listed(sdk, revision, relayed), list);
      assert.deepEqual(byName(sdk.parse("ListToolsResult", { tools: relayed }).tools), list);
    }
    catalog.free();
  },

  async "tools are written for each revision, and what it does not know is told"(sdk, revision) {
    const list = await listed(sdk, revision, tools({ modern: isModern(revision) }));
    for (const target of OURS) {
      const written = list.map((tool) => cw.selectableToMcpTool(cw.mcpToolToSelectable(tool), { revision: target }));
      const told = written.flatMap(({ report }, index) => report.map(({ path }) => `${list[index].name}${path}`));
      const wanted = list.flatMap((tool) => lost(tool, target).map((field) => `${tool.name}/${field}`));
      assert.deepEqual(told.sort(), wanted.sort(), target);
      const relayed = written.map(({ tool }) => tool);
      assert.deepEqual(
        plain(relayed),
        list.map((tool) => without(tool, lost(tool, target))),
        target,
      );
      if (target === revision) assert.deepEqual(await listed(sdk, revision, relayed), byName(plain(relayed)));
      else assert.equal(sdk.parse("ListToolsResult", { tools: relayed }).tools.length, list.length);
    }
  },

  async "results lose no byte, no text and no status"(sdk, revision) {
    const served = results({ modern: isModern(revision) });
    await connected(sdk, revision, { result: (name) => served[name].sent }, async (peer) => {
      await peer.listTools();
      for (const [name, { sent, facts = [], options }] of Object.entries(served)) {
        const result = await peer.callTool({ name, arguments: {} });
        const before = JSON.stringify(result);
        assert.deepEqual(result.content, sent.content, name);
        assert.deepEqual(result.structuredContent, sent.structuredContent, name);
        for (const option of options ? [options] : OURS.includes(revision) ? [{}, { revision }] : [{}]) {
          checkConverted(cw.mcpResultToEnvelope(result, name, option), sent, name, facts);
          checkIngested(result, name, option);
        }
        assert.equal(JSON.stringify(result), before, name);
      }
    });
  },

  async "results that are made of what we return are results of the SDK and mean the same"(sdk, revision) {
    const served = results({ modern: isModern(revision) });
    const relayed = {};
    for (const [name, { sent, options }] of Object.entries(served)) {
      relayed[name] = rebuilt(cw.mcpResultToEnvelope(sent, name, options));
      const read = sdk.parse("CallToolResult", relayed[name]);
      assert.deepEqual(plain(read), relayed[name], name);
    }
    await connected(sdk, revision, { result: (name) => relayed[name] }, async (peer) => {
      for (const [name, { sent, options }] of Object.entries(served)) {
        const [old, again] = [sent, await peer.callTool({ name, arguments: {} })].map((result) => cw.mcpResultToEnvelope(result, name, options));
        assert.equal(again.envelope.status, old.envelope.status, name);
        const bytes = ({ binaries }) => [...binaries.values()].map((binary) => [binary.media_type, Buffer.from(binary.bytes).toString("hex")]);
        assert.deepEqual(bytes(again), bytes(old), name);
        assert.ok(again.full_text.startsWith(old.full_text), name);
      }
    });
  },

  async "of the context arrives what the policy lets through"(sdk, revision) {
    const context = cw.ToolCallContext.of({ tenantId: "acme", "com.example/trace": { parts: [1, null, "é"] }, locale: "de", authToken: "s3cret-value" });
    const keys = ["tenantId", "com.example/trace", "authToken"];
    const open = { tenantId: "acme", "com.example/trace": { parts: [1, null, "é"] } };
    const secret = { ...open, authToken: "s3cret-value" };
    const seen = [];
    const call = async ({ _meta }, notify) => {
      seen.push(_meta);
      const progressToken = _meta?.progressToken;
      if (progressToken !== undefined) await notify({ method: "notifications/progress", params: { progressToken, progress: 1 } });
    };
    await connected(sdk, revision, { call }, async (peer) => {
      for (const [policy, wanted] of [
        [undefined, {}],
        [cw.MetaPolicy.none, {}],
        [cw.MetaPolicy.allow([]), {}],
        [cw.MetaPolicy.allow(keys), open],
        [cw.MetaPolicy.allow(keys, { secrets: ["authToken"] }), secret],
        [cw.MetaPolicy.deny(["locale"]), open],
      ]) {
        const meta = cw.toMcpMeta(context, policy, { onWarning: () => {} });
        assert.deepEqual(meta === undefined, Object.keys(wanted).length === 0);
        await peer.callTool({ name: "bare", arguments: {}, _meta: meta });
        assert.deepEqual(own(seen.pop()), wanted);

        const progress = [];
        await peer.callTool({ name: "bare", arguments: {}, _meta: meta }, { onprogress: (event) => progress.push(event.progress) });
        const { progressToken, ...rest } = own(seen.pop());
        assert.ok(Number.isInteger(progressToken));
        assert.deepEqual([rest, progress], [wanted, [1]]);

        const existing = { progressToken: "mine", tenantId: "theirs" };
        const merged = cw.toMcpMeta(context, policy, { existing, onWarning: () => {} });
        await peer.callTool({ name: "bare", arguments: {}, _meta: merged });
        assert.deepEqual(own(seen.pop()), { ...wanted, ...existing });
        assert.deepEqual(existing, { progressToken: "mine", tenantId: "theirs" });
      }
      await peer.callTool({ name: "bare", arguments: {}, _meta: cw.toMcpMeta(context, cw.MetaPolicy.allow(keys), { onWarning: () => {} }) });
      const arrived = seen.pop();
      const received = cw.fromMcpMeta(arrived, { allow: ["com.example/trace"] });
      assert.deepEqual([received.origin, plain(received.toObject())], ["mcp", { "com.example/trace": open["com.example/trace"] }]);
      assert.deepEqual(plain(cw.fromMcpMeta(arrived, { allow: ["tenantId", "com.example/trace"], trustIdentity: true }).toObject()), open);
      assert.throws(() => cw.fromMcpMeta(arrived, { allow: keys }), { code: "POLICY_VIOLATION" });
    });
    assert.deepEqual(seen, []);
  },
};

function isModern(revision) {
  return revision >= "2026-07-28";
}

/** What the SDK reads of a tool: that of 2.x follows revision 2026-07-28, which has no tasks of its own. */
function known(tool, revision) {
  return isModern(revision) ? without(tool, ["execution"]) : tool;
}

/** The fields that a tool loses in a revision. */
function lost({ icons, execution, outputSchema }, revision) {
  return [
    ...(icons !== undefined && revision < "2025-11-25" ? ["icons"] : []),
    ...(execution !== undefined && revision !== "2025-11-25" ? ["execution"] : []),
    ...(outputSchema !== undefined && outputSchema.type !== "object" && !isModern(revision) ? ["outputSchema"] : []),
  ];
}

function without(tool, fields) {
  return Object.fromEntries(Object.entries(tool).filter(([field]) => !fields.includes(field)));
}

/** Runs with a client that is connected to a server of these tools and results. */
async function connected(sdk, revision, { offered, result, call }, run) {
  const peer = await sdk.connect(revision, {
    list: () => ({ tools: offered ?? tools({ modern: isModern(revision) }) }),
    async call(params, notify) {
      await call?.(params, notify);
      return result?.(params.name) ?? { content: [] };
    },
  });
  try {
    assert.equal(peer.negotiated, revision);
    return await run(peer);
  } finally {
    await peer.close();
  }
}

/** The tools as a client sees them, by name. */
async function listed(sdk, revision, offered) {
  return connected(sdk, revision, { offered }, async (peer) => byName((await peer.listTools()).tools));
}

/** `_meta` of a request without what revision 2026-07-28 has in every request. */
function own(meta = {}) {
  return Object.fromEntries(Object.entries(meta).filter(([key]) => !key.startsWith("io.modelcontextprotocol/")));
}

/** The bytes that a result must unpack to, by handle. */
function wantedBytes({ content, structuredContent }, prefix) {
  const parts = content.map((block, index) => [`${prefix}:${block.type}:${index}`, bytesOf(block)]).filter(([, part]) => part);
  return { parts: new Map(parts), structured: structuredContent === undefined ? undefined : `${prefix}:structured_content` };
}

function checkConverted({ envelope, binaries, full_text, warnings }, sent, name, facts) {
  assert.deepEqual(warnings, [], name);
  assert.equal(envelope.status, sent.isError ? "error" : "ok", name);
  const { parts, structured } = wantedBytes(sent, `mcp:${name}`);
  assert.deepEqual([...binaries.keys()], [...parts.keys(), ...(structured ? [structured] : [])], name);
  assert.deepEqual(
    envelope.artifacts.map(({ handle }) => handle),
    [...binaries.keys()],
    name,
  );
  for (const { handle, size_bytes } of envelope.artifacts) assert.equal(binaries.get(handle).bytes.length, size_bytes, handle);
  for (const [handle, { bytes, media_type }] of parts) {
    assert.deepEqual([...binaries.get(handle).bytes], [...bytes], handle);
    assert.equal(binaries.get(handle).media_type, media_type, handle);
  }
  if (structured) assert.deepEqual(json(binaries.get(structured).bytes), sent.structuredContent, name);
  let from = 0;
  for (const text of textsOf(sent)) {
    const at = full_text.indexOf(text, from);
    assert.ok(at >= from, `${name}: no ${JSON.stringify(text.slice(0, 40))}`);
    from = at + text.length;
  }
  for (const fact of facts) assert.ok(envelope.facts.includes(fact), `${name}: ${fact} is not among ${envelope.facts}`);
}

/** What a manager stores of a result must be what the conversion returns. */
function checkIngested(result, tool_name, options) {
  const manager = new cw.ContextManager();
  manager.ingest({ id: "c1", kind: "tool_call", text: `${tool_name}({})` });
  const { item, envelope } = manager.ingestMcpResult({ tool_call_id: "c1", tool_name, result, ...options });
  const { envelope: alone, binaries, full_text } = cw.mcpResultToEnvelope(result, tool_name, options);
  assert.equal(envelope.status, alone.status, tool_name);
  const kept = new Map([...binaries].map(([handle, { bytes }]) => [handle.replace(`mcp:${tool_name}:`, `mcp:${tool_name}:c1:`), bytes]));
  const restored = cw.ContextManager.fromJSON(JSON.stringify(manager));
  for (const { artifacts } of [manager, restored]) {
    for (const [handle, bytes] of kept) assert.deepEqual([...artifacts.bytes(handle)], [...bytes], handle);
    const raw = item.artifact_ref.handle;
    assert.equal(Buffer.from(artifacts.bytes(raw)).toString("utf8"), full_text, tool_name);
    assert.deepEqual(
      artifacts
        .list()
        .map(({ handle }) => handle)
        .sort(),
      [...kept.keys(), raw].sort(),
      tool_name,
    );
  }
  const handles = envelope.artifacts.map(({ handle }) => handle).filter((handle) => handle !== item.artifact_ref.handle);
  assert.deepEqual(handles, [...kept.keys()], tool_name);
  manager.free();
  restored.free();
}

function json(bytes) {
  return JSON.parse(Buffer.from(bytes).toString("utf8"));
}

/** A result of MCP made of a converted one, as who stands between a client and a server would. */
function rebuilt({ envelope, binaries, full_text }) {
  const result = { content: full_text === "" ? [] : [{ type: "text", text: full_text }] };
  if (envelope.status === "error") result.isError = true;
  for (const [handle, { bytes, media_type, label }] of binaries) {
    const kind = handle.split(":")[2];
    const data = Buffer.from(bytes).toString("base64");
    const text = Buffer.from(bytes).toString("utf8");
    if (kind === "structured_content") result.structuredContent = json(bytes);
    else if (kind === "text") result.content.push({ type: "text", text, annotations: { audience: ["user"] } });
    else if (kind === "resource_link") result.content.push({ type: "resource_link", uri: text, name: label });
    else if (kind === "resource") {
      const isText = media_type.startsWith("text/");
      result.content.push({ type: "resource", resource: { uri: label, mimeType: media_type, ...(isText ? { text } : { blob: data }) } });
    } else result.content.push({ type: kind, data, mimeType: media_type });
  }
  return result;
}
