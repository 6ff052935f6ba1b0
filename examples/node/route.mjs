// Tools for one query at a time: what a model gets to see of them, and what becomes of its answer.
import { Catalog, ContextManager, Router } from "contextweaver";

// What an MCP server answered to tools/list.
const order = { type: "object", properties: { id: { type: "integer" } }, required: ["id"] };
const reads = { readOnlyHint: true };
const listed = {
  tools: [
    { name: "get_order", description: "Reads an order by its number", inputSchema: order, annotations: reads },
    { name: "cancel_order", description: "Cancels an order", inputSchema: order, annotations: { destructiveHint: true } },
    { name: "read_mail", description: "Reads the letters of a customer", inputSchema: order, annotations: reads },
    { name: "read_post", description: "Reads the letters of a supplier", inputSchema: order, annotations: reads },
  ],
};

const catalog = Catalog.fromMcp(listed, { server: "shop" });
for (const { severity, code, item_id } of catalog.lint()) if (severity === "error") throw new Error(`${item_id}: ${code}`);
const router = new Router(catalog);

/** Stands for a request to a model: it takes the first tool. */
const askModel = (prompt, tools) => tools[0].function.name;

function choose(query) {
  const manager = new ContextManager();
  manager.ingest({ id: "u1", kind: "user_turn", text: query });
  const { route, pack } = manager.buildRoute({ query, router });
  if (route.no_match) return "nothing fits, answer without tools";
  if (route.is_ambiguous) return `ask back: ${route.clarifying_question}`;
  const answer = askModel(pack.prompt, router.toolsFor(route, "openai-chat"));
  const { selected_id: tool_id, reason } = router.validateSelection(route, answer);
  if (tool_id === null) return `no such tool: ${reason}`;
  const { prompt } = manager.buildCall({ tool_id, router }); // for the arguments
  const shown = `${route.candidate_ids.length} of ${catalog.size} tools`;
  return `${shown}, the model takes ${tool_id} with ${prompt.split("\n")[0]}`;
}

for (const query of ["cancel order 12446", "brew a coffee", "read the letter"]) console.log(`${query}: ${choose(query)}`);
