// The service and its client, as they are used.
import type { BuiltMessages, ContextPack, DecisionSnapshot, RouteResult } from "contextweaver";
import { openApi, sessionClient, sessionHandler } from "contextweaver/service";
import type { Problem, PrunedSession, SessionClient, SessionHandlerOptions } from "contextweaver/service";
import { memoryStore } from "contextweaver/storage";

const store = memoryStore();
const open: NonNullable<SessionHandlerOptions["open"]> = (tenant, name) => store.session(JSON.stringify([tenant, name]));
const handler: (request: Request) => Promise<Response> = sessionHandler<Request>({
  open,
  token: { acme: "t" },
  limits: { kept: 3 },
  manager: { clock: Date.now, embed: async (texts) => texts.map(() => [1]) },
});
sessionHandler({
  open,
  authorize: async (request: Request) => (request.headers.get("x") === null ? undefined : { tenant: "a" }),
  origins: ["https://app.example"],
  onError: (error) => console.error(error),
});
export const ended: Promise<readonly PrunedSession[]> = sessionHandler({ store, token: "t", limits: { sessions: 10, session_bytes: 2 ** 20 } }).prune({
  idle_ms: 1,
});
// @ts-expect-error a time in milliseconds
void sessionHandler({ store, token: "t" }).prune({ idle_days: 1 });
// @ts-expect-error a tenant is needed
sessionHandler({ open, authorize: (request: Request) => ({ name: request.url }) });
// @ts-expect-error no such option
sessionHandler({ open, token: "t", cors: true });

const client: SessionClient = sessionClient({ url: "http://localhost", token: "t", fetch: (url, init) => handler(new Request(url, init)) });
sessionClient({ url: "http://localhost", token: "t", fetch });
export async function uses(): Promise<DecisionSnapshot> {
  const { id, sequence } = await client.createSession({ options: { thrift: 0.5, budget: { answer: 100 } } }, { idempotency_key: "k" });
  id satisfies string;
  // @ts-expect-error functions cannot be sent
  await client.createSession({ options: { clock: Date.now } });
  const { results } = await client.append({
    session: id,
    items: [{ id: "u", kind: "user_turn", text: "x" }],
    tool_results: [{ tool_call_id: "c", tool_name: "t", raw_output: { base64: "AA==" } }],
    if_sequence: sequence,
  });
  results[0]?.digested satisfies boolean | undefined;
  // @ts-expect-error the session is missing
  await client.append({ items: [] });
  // @ts-expect-error an item has a text
  await client.append({ session: id, items: [{ id: "u", kind: "user_turn" }] });
  const { pack }: { readonly pack: ContextPack } = await client.build({ session: id, build: { phase: "answer" } });
  const { built }: { readonly built: BuiltMessages } = await client.buildMessages({ session: id, build: { phase: "answer", format: "anthropic" } });
  const { route, cards }: { readonly route: RouteResult; readonly cards: readonly { readonly id: string }[] } = await client.route({
    session: id,
    query: "q",
    options: { top_k: 3, history: "log" },
    provider: "anthropic",
    prompt: { budget_tokens: 100 },
  });
  (await client.syncMessages({ session: id, messages: [], format: "openai-chat" })).added satisfies readonly string[];
  const { slice } = await client.drilldown({ session: id, handle: "h", selector: { type: "lines", start: 0, end: 3 } });
  await client.forget({ session: id, item_id: "u" });
  await client.deleteSession({ session: id });
  for await (const change of client.decisionChanges({ since: 3 })) change.decisions satisfies readonly object[];
  console.log(pack.prompt, built.tokens, route.candidate_ids, cards[0]?.id, slice.text, openApi()["paths"]);
  return client.exportDecisions({ since: 1 });
}
const problem: Problem = { title: "Not Found", status: 404, code: "NOT_FOUND", detail: "there is no such session" };
console.log(problem.path satisfies string | undefined);
