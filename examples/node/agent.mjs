// An agent's turn: choose a tool, fill in its arguments, read a large result, answer. The model is played by a script,
// so that this runs without a key; put your own call where `model` is.
import { ContextManager } from "contextweaver";

const tool = {
  id: "orders.search",
  kind: "tool",
  name: "orders_search",
  description: "Finds orders by customer and state",
  args_schema: { type: "object", properties: { customer: { type: "string" }, state: { type: "string" } } },
};
const lines = ["overdue", "paid"].flatMap((state) => Array.from({ length: 150 }, (_, i) => `order ${i + 1}: ${state}, ${i * 7} EUR`));
const runTool = () => `found ${lines.length} orders for ACME\n${lines.join("\n")}\ntotal: 156450 EUR`;

/** Your model. It gets a prompt that fits its budget. */
const model = (phase) => ({ call: '{"customer":"ACME"}', answer: "ACME has 150 overdue orders, 78225 EUR in total." })[phase];

const context = new ContextManager({
  budget: { answer: 900 },
  hooks: { firewall_triggered: ({ item_id }) => console.log(`${item_id} is large: the prompt gets an excerpt`) },
});
context.ingestAll([
  { id: "rule", kind: "policy", text: "Never reveal bank details.", metadata: { pinned: true } },
  { id: "note", kind: "doc_snippet", text: "IBAN of ACME: DE02 1203 0000 0000 2020 51", sensitivity: "confidential" },
  { id: "u1", kind: "user_turn", text: "How much does ACME owe us?" },
]);

// The tool's schema goes into the header; results of earlier calls stay out of this phase.
const call = context.buildCall({ tool, query: "orders of ACME" });
context.ingest({ id: "c1", kind: "tool_call", text: model(call.phase), parent_id: "u1", metadata: { function_name: tool.name } });

// Every byte of the result is kept under its handle; the log gets what fits.
const { envelope } = context.ingestToolResult({ tool_call_id: "c1", tool_name: tool.name, raw_output: runTool() });
const [artifact] = envelope.artifacts;
console.log(`stored ${artifact.size_bytes} bytes as ${artifact.handle}`);
const slice = context.drilldown(artifact.handle, { type: "lines", start: 150, end: 153 }, { inject: true, max_tokens: 100 });
console.log(`looked into it: ${slice.text.split("\n")[0]} …`);

const pack = context.build({ phase: "answer", query: "How much does ACME owe?", explain: true });
context.ingest({ id: "a1", kind: "agent_msg", text: model(pack.phase), parent_id: "u1" });

console.log(`\n${pack.prompt}\n`);
console.log(`${pack.stats.prompt_tokens} of ${pack.stats.budget_tokens} tokens`);
for (const { item_id, stage, reason, tokens } of pack.stats.dropped_items) {
  console.log(`left out ${item_id}: ${reason} (${stage}), ${tokens} tokens`);
}

// The session goes on tomorrow, in another process.
const tomorrow = ContextManager.fromJSON(JSON.stringify(context));
console.log(`restored ${tomorrow.events.count()} items and ${tomorrow.artifacts.list().length} artifact`);
