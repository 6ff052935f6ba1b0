// A page with a budget slider: what is in the prompt, and what was left out and why.
import { ContextManager, ContextWeaverError, sanitizeText } from "contextweaver";

const context = new ContextManager();
context.ingestAll([
  { id: "rule", kind: "policy", text: "Answer in one sentence." },
  { id: "u1", kind: "user_turn", text: "Which of our invoices to ACME are overdue?" },
  { id: "c1", kind: "tool_call", text: '{"customer":"ACME"}', parent_id: "u1", metadata: { function_name: "list_invoices" } },
  { id: "r1", kind: "tool_result", text: "INV-7 due 1 May, open; INV-8 due 9 June, paid; INV-9 due 1 July, open", parent_id: "c1" },
  { id: "a1", kind: "agent_msg", text: "INV-7 and INV-9 are overdue." },
  { id: "iban", kind: "doc_snippet", text: "IBAN of ACME: DE02 1203 0000 0000 2020 51", sensitivity: "confidential" },
  ...Array.from({ length: 12 }, (_, i) => ({ id: `talk${i}`, kind: "agent_msg", text: `Small talk number ${i + 1} about the weather in May.` })),
  { id: "u2", kind: "user_turn", text: "Write a reminder for INV-7." },
]);

const element = (id) => document.getElementById(id);

function show() {
  const budget_tokens = Number(element("budget").value);
  let pack;
  try {
    pack = context.build({ phase: "answer", query: "overdue invoice INV-7", budget_tokens });
  } catch (error) {
    if (!ContextWeaverError.is(error)) throw error;
    element("numbers").textContent = `${error.code}: ${error.message}`;
    return;
  }
  const { stats, prompt } = pack;
  const counts = `${stats.included_count} of ${stats.total_candidates} items`;
  element("numbers").textContent = `${stats.prompt_tokens} of ${budget_tokens} tokens, ${counts}`;
  // Text from tools and users: shown as text, invisible characters made visible.
  element("prompt").textContent = sanitizeText(prompt);
  element("dropped").replaceChildren(...stats.dropped_items.map(row));
}

function row({ item_id, stage, reason, tokens }) {
  const line = document.createElement("tr");
  for (const value of [item_id, stage, reason, tokens]) line.insertCell().textContent = sanitizeText(`${value}`);
  return line;
}

element("budget").addEventListener("input", show);
show();
