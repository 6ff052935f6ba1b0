// Records the memory that the page shows: a year of decisions about an invented shop, made by the tools an agent would call.
// node record.mjs > lumen-shop.json, with the package installed.
import { DecisionStore } from "contextweaver";

/** decision, category, stakes, confidence, what came of it, why, what was learned, tags */
const DECISIONS = [
  ["Keep orders and payments in PostgreSQL", "architecture", "high", 0.85, "success", ["analysis", "Both change in one transaction"], "Transactions paid off when the payment provider timed out", ["database", "orders"]],
  ["Keep shopping carts in Redis with a day of expiry", "architecture", "medium", 0.8, "success", ["pattern", "Carts are short-lived and read often"], "Expiry made the cleanup job superfluous", ["cache", "cart"]],
  ["Store amounts of money as integers in cents", "architecture", "high", 0.95, "success", ["constraint", "Sums of floats do not add up"], "The audit found no difference in a quarter", ["money", "orders"]],
  ["Compute discounts in floating point", "process", "medium", 0.9, "failure", ["intuition", "It is rounded at the end anyway"], "6467.999999999999 reached the payment provider: round at every step, or use integers", ["money", "checkout"]],
  ["Send order mails from the request that places the order", "architecture", "medium", 0.8, "failure", ["intuition", "One place less to look at"], "A slow mail server blocked checkout for eleven minutes", ["mail", "checkout"]],
  ["Send order mails from a queue", "architecture", "medium", 0.75, "success", ["analysis", "Checkout must not wait for mail"], "Checkout went from 900 to 300 ms", ["mail", "queue"]],
  ["Retry failed payments three times with growing pauses", "integration", "high", 0.7, "partial", ["analogy", "The provider's own client does so"], "Helps with timeouts; a declined card must not be retried", ["payment", "retry"]],
  ["Retry only payments that timed out", "integration", "high", 0.8, "success", ["empirical", "Declined cards were a third of all retries"], "Complaints about double reservations stopped", ["payment", "retry"]],
  ["Give every payment an idempotency key", "integration", "critical", 0.9, "success", ["constraint", "A retry must not charge twice"], "Two lost answers, no double charge", ["payment", "retry"]],
  ["Verify webhooks by their signature", "security", "critical", 0.95, "success", ["authority", "The provider's security guide asks for it"], "A scan sent 4,000 forged events; none was taken", ["webhook", "payment"]],
  ["Accept webhooks from the provider's addresses only", "security", "high", 0.85, "failure", ["intuition", "Addresses rarely change"], "They changed on a Saturday; signatures were enough", ["webhook"]],
  ["Put customer addresses into the log for debugging", "security", "high", 0.6, "failure", ["intuition", "It makes support faster"], "Personal data in logs had to be deleted by hand", ["privacy", "logging"]],
  ["Log customer ids in place of names", "security", "high", 0.9, "success", ["authority", "The privacy policy asks for it"], "Support looks names up where they may", ["privacy", "logging"]],
  ["Index products by full text in PostgreSQL", "architecture", "medium", 0.65, "success", ["elimination", "A search server is one more thing to run"], "Good enough up to 40,000 products", ["search", "database"]],
  ["Move product search to a search server", "architecture", "high", 0.55, "abandoned", ["analogy", "Larger shops do so"], null, ["search"]],
  ["Rank search results by words alone", "tooling", "low", 0.7, "partial", ["pattern", "It can be explained"], "Synonyms are missing: lamp finds no light", ["search"]],
  ["Roll out with feature flags", "process", "medium", 0.85, "success", ["pattern", "A release can be undone in seconds"], "Three releases were undone without a deploy", ["release"]],
  ["Deploy on Friday afternoon after a green build", "process", "high", 0.9, "failure", ["intuition", "The build was green"], "The weekend's orders had no invoices", ["release"]],
  ["Deploy on weekday mornings only", "process", "medium", 0.8, "success", ["empirical", "Two of three incidents began on a Friday"], "Incidents are found while everybody is there", ["release"]],
  ["Run database migrations before the new code starts", "process", "high", 0.85, "partial", ["pattern", "Code expects the new columns"], "Renames need two steps: old code still runs", ["database", "release"]],
  ["Make every migration work with the code before it", "process", "high", 0.8, "success", ["analysis", "Both versions run for minutes"], "No downtime since", ["database", "release"]],
  ["Drop unused columns at once", "process", "high", 0.75, "failure", ["intuition", "Nobody reads them"], "A report did", ["database"]],
  ["Reserve stock when an item is put into the cart", "architecture", "high", 0.7, "failure", ["analogy", "Cinemas reserve seats"], "Full carts of robots emptied the shop", ["stock", "cart"]],
  ["Reserve stock when payment begins", "architecture", "high", 0.75, "success", ["analysis", "Most carts never reach payment"], "Oversold twice in a year, which is cheaper", ["stock", "checkout"]],
  ["Let prices be cached for five minutes", "architecture", "medium", 0.8, "partial", ["analysis", "Reads are a hundred times as many"], "Sales begin five minutes late; purge at their start", ["cache", "money"]],
  ["Use the vendor's SDK for shipping labels", "integration", "low", 0.6, "failure", ["authority", "It is the official one"], "It holds a connection per label; plain HTTP is twenty lines", ["shipping"]],
  ["Ask two carriers for prices at the same time", "integration", "medium", 0.7, "success", ["analysis", "They do not depend on each other"], "Half the waiting time", ["shipping"]],
  ["Show delivery dates as the carrier estimates them", "integration", "medium", 0.85, "failure", ["authority", "The carrier knows best"], "A fifth arrived later; add a day and keep the promise", ["shipping"]],
  ["Test checkout in a real browser before each release", "tooling", "medium", 0.8, "success", ["empirical", "Unit tests missed the last two failures"], "Found a broken pay button twice", ["testing", "checkout"]],
  ["Generate test data from production", "tooling", "high", 0.7, "abandoned", ["intuition", "It is the most real"], "Personal data would have left production", ["testing", "privacy"]],
  ["Pin the versions of all dependencies", "tooling", "medium", 0.9, "success", ["pattern", "Builds must be repeatable"], "An update that broke types waited until Monday", ["dependencies"]],
  ["Update dependencies automatically when tests are green", "tooling", "medium", 0.75, "partial", ["analysis", "Small steps are easy to undo"], "Fine for patches; minor versions want eyes", ["dependencies"]],
  ["Alert on every failed payment", "process", "low", 0.8, "failure", ["intuition", "Each one matters"], "Nobody read the alerts after a week", ["alerting", "payment"]],
  ["Alert when more than two percent of payments fail", "process", "medium", 0.75, "success", ["empirical", "The usual share is 0.6 percent"], "Woke us for the right reason, once", ["alerting", "payment"]],
  ["Let support refund up to 50 without a second pair of eyes", "process", "medium", 0.65, "success", ["analysis", "The risk is smaller than the waiting"], "Refunds in minutes; no misuse in a year", ["refund"]],
  ["Refund larger sums after a second approval", "security", "high", 0.9, "success", ["authority", "The accountant asked for it"], "Caught one wrong amount", ["refund"]],
  ["Keep invoices as PDF for ten years in object storage", "architecture", "medium", 0.95, "success", ["constraint", "The law asks for it"], "Cheap, and nobody misses them", ["invoice"]],
  ["Number invoices by a sequence of the database", "architecture", "high", 0.9, "failure", ["pattern", "Sequences are unique"], "Unique but with gaps, which tax law does not allow", ["invoice", "database"]],
  ["Number invoices in the transaction that writes them", "architecture", "high", 0.85, "success", ["constraint", "No gaps may occur"], "Slower by 3 ms, and right", ["invoice", "database"]],
  ["Translate product texts by a model, reviewed by a person", "tooling", "low", 0.6, "success", ["empirical", "Of 50 samples 46 needed no change"], "The four were about sizes: give the model the table", ["content"]],
  ["Answer questions about orders by a model with tools", "integration", "medium", 0.5, "partial", ["analogy", "Other shops do so"], "Good at status, bad at exceptions: hand those over", ["support"]],
  ["Give the support model no tool that changes orders", "security", "critical", 0.9, "success", ["analysis", "Mails of customers are not to be trusted"], "A mail that asked for a refund got none", ["support"]],
  ["Compress images when they are uploaded", "tooling", "low", 0.7, "success", ["pattern", "They are read a thousand times"], "A third of the traffic", ["content"]],
  ["Split checkout into a service of its own", "architecture", "high", 0.4, null, ["intuition", "It changes more often than the rest"], null, ["checkout"]],
  ["Keep a copy of the payment provider's events for 90 days", "integration", "medium", 0.8, null, ["empirical", "Two disputes needed them"], null, ["payment", "webhook"]],
];

/** later, earlier, how they are related */
const LINKS = [
  ["Send order mails from a queue", "Send order mails from the request that places the order", "supersedes"],
  ["Retry only payments that timed out", "Retry failed payments three times with growing pauses", "supersedes"],
  ["Retry only payments that timed out", "Give every payment an idempotency key", "depends_on"],
  ["Verify webhooks by their signature", "Accept webhooks from the provider's addresses only", "supersedes"],
  ["Log customer ids in place of names", "Put customer addresses into the log for debugging", "supersedes"],
  ["Deploy on weekday mornings only", "Deploy on Friday afternoon after a green build", "supersedes"],
  ["Make every migration work with the code before it", "Run database migrations before the new code starts", "supersedes"],
  ["Make every migration work with the code before it", "Drop unused columns at once", "relates_to"],
  ["Reserve stock when payment begins", "Reserve stock when an item is put into the cart", "supersedes"],
  ["Store amounts of money as integers in cents", "Compute discounts in floating point", "relates_to"],
  ["Alert when more than two percent of payments fail", "Alert on every failed payment", "supersedes"],
  ["Number invoices in the transaction that writes them", "Number invoices by a sequence of the database", "supersedes"],
  ["Number invoices in the transaction that writes them", "Keep orders and payments in PostgreSQL", "depends_on"],
  ["Refund larger sums after a second approval", "Let support refund up to 50 without a second pair of eyes", "relates_to"],
  ["Give the support model no tool that changes orders", "Answer questions about orders by a model with tools", "relates_to"],
  ["Keep a copy of the payment provider's events for 90 days", "Verify webhooks by their signature", "depends_on"],
  ["Split checkout into a service of its own", "Reserve stock when payment begins", "depends_on"],
];

const GUARDRAILS = [
  { id: "unsure-and-critical", description: "Nothing critical on a hunch", condition_stakes: "critical", condition_confidence: "< 0.8", action: "block", message: "critical, and only {confidence} sure: find out more first" },
  { id: "unsure-and-high", description: "High stakes want more than half", condition_stakes: "high", condition_confidence: "< 0.6", action: "warn", message: "high stakes at {confidence}: ask somebody" },
  { id: "security-review", description: "Security is looked at by two", condition_category: "security", action: "warn", message: "have a second person look at it" },
];

const DAY_MS = 86_400_000;
let now = Date.UTC(2025, 0, 6, 9);
let made = 0;
const store = new DecisionStore({ clock: () => now, new_id: () => `d${String((made += 1)).padStart(3, "0")}`, guardrails: GUARDRAILS });
const call = async (name, args) => {
  const { structuredContent, isError, content } = await store.callTool(name, args, { agent_id: "shop-agent" });
  if (isError || structuredContent.success === false) throw new Error(`${name}: ${content[0].text}`);
  return structuredContent;
};
const ids = new Map();
for (const [decision, category, stakes, confidence, outcome, [type, text], lessons, tags] of DECISIONS) {
  const { id } = await call("log_decision", { decision, category, stakes, confidence, reasons: [{ type, text }], tags, project: "lumen-shop" });
  ids.set(decision, id);
  now += 3 * DAY_MS;
  if (outcome) await call("review_outcome", { id, outcome, ...(lessons && { lessons }) });
  now += 5 * DAY_MS;
}
for (const [later, earlier, edge_type] of LINKS) await call("link_decisions", { source_id: ids.get(later), target_id: ids.get(earlier), edge_type });
console.log(JSON.stringify(store.export(), null, 1));
