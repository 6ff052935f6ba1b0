// An invented shop as a database: orders with their payments, parcels and events, some of which do not agree, and its tickets.
import { random } from "../../synthetic.mjs";

const FIRST = "Ada Bruno Chiara Dario Elif Femke Goran Hanna Ivo Jana Kofi Lena Milan Nora Omar Petra Quirin Rosa Soren Tilda Ugo Vera Wim Yara Zeno".split(
  " ",
);
const LAST =
  "Adler Bakker Costa Dahl Engel Ferri Gruber Holm Ivanov Jansen Keller Lund Moreau Novak Okafor Peeters Quast Rossi Silva Toth Urban Vidal Weiss Young Zeman".split(
    " ",
  );
const GOODS = "kettle lamp backpack tent stove bottle jacket helmet saddle pump mug blanket speaker charger cable keyboard monitor desk chair shelf".split(" ");
const COLOURS = "black white green amber teal violet".split(" ");
const CARRIERS = ["NordPost", "Relais Express", "Kurier24"];
const CITIES = ["Lyon", "Gent", "Turin", "Graz", "Malmo", "Porto", "Brno", "Utrecht"];
const KINDS = [
  "created",
  "payment_authorized",
  "payment_captured",
  "stock_reserved",
  "pick_list",
  "packed",
  "label_printed",
  "handed_to_carrier",
  "scanned",
  "in_transit",
  "out_for_delivery",
  "delivered",
];
const SUBJECTS = [
  ["parcel", "My parcel has not arrived", "The tracking page has said 'in transit' for nine days. Nobody at the pick-up point knows of it."],
  ["double", "I was charged twice", "My bank shows two payments on the same day for one order. Please give one of them back."],
  ["broken", "Item arrived broken", "The box was dented and the part inside has a crack along its side. I have photos of it."],
  ["wrong", "Wrong colour", "I ordered another colour than the one in the box. The label on the bag has the right one, though."],
  ["invoice", "Invoice for my company", "The invoice has my private address. We need one that has the company name and the tax number."],
  ["return", "How do I return this?", "It does not fit. The form says that the period for returns is over, but I got it only last week."],
];

const day = (at) => `2026-10-${String(1 + (at % 28)).padStart(2, "0")}`;
const quoted = (value) => (value === null ? "NULL" : typeof value === "number" ? String(value) : `'${String(value).replaceAll("'", "''")}'`);
const insert = (table, rows) => rows.map((row) => `INSERT INTO ${table} VALUES (${row.map(quoted).join(", ")});`).join("\n");

const TABLES = `
CREATE TABLE customers (id text PRIMARY KEY, name text, email text, city text, since date, note text);
CREATE TABLE products (sku text PRIMARY KEY, title text, price numeric(8,2), weight_g int);
CREATE TABLE orders (id text PRIMARY KEY, customer_id text, placed_on date, status text, total numeric(8,2), currency text, channel text);
CREATE TABLE order_lines (order_id text, sku text, quantity int, price numeric(8,2));
CREATE TABLE payments (ref text PRIMARY KEY, order_id text, status text, amount numeric(8,2), method text, captured_on date, terminal text, provider json);
CREATE TABLE shipments (tracking text PRIMARY KEY, order_id text, carrier text, handed_on date, delivered_on date, weight_g int, depot text);
CREATE TABLE events (order_id text, at timestamp, kind text, payload json);
CREATE TABLE tickets (id text PRIMARY KEY, customer_id text, order_id text, topic text, opened_on date, status text, subject text, body text, resolution text);
`;

/** The database as SQL, and the export of the payment provider as CSV. */
export function shop(seed, { orders: count = 560 } = {}) {
  const next = random(seed);
  const int = (below) => Math.floor(next() * below);
  const pick = (list) => list[int(list.length)];
  const hex = (length) => Array.from({ length }, () => int(16).toString(16)).join("");
  const cents = (value) => Math.round(value * 100) / 100;
  const rows = { customers: [], products: [], orders: [], order_lines: [], payments: [], shipments: [], events: [], tickets: [] };
  for (let at = 0; at < 56; at += 1) {
    const [first, last] = [pick(FIRST), pick(LAST)];
    const id = `C-${2000 + at * 7}`;
    rows.customers.push([
      id,
      `${first} ${last}`,
      `${first}.${last}${at}@mail.example`.toLowerCase(),
      pick(CITIES),
      `20${18 + int(8)}-0${1 + int(9)}-1${int(10)}`,
      next() < 0.2 ? "prefers e-mail; asks for receipts on paper" : null,
    ]);
  }
  for (const [at, good] of GOODS.entries()) {
    for (const colour of COLOURS.slice(0, 2 + (at % 3)))
      rows.products.push([
        `${good.slice(0, 3).toUpperCase()}-${100 + at * 13}-${colour.slice(0, 2).toUpperCase()}`,
        `${good}, ${colour}`,
        cents(9 + next() * 190),
        120 + int(4000),
      ]);
  }
  const provider = [];
  for (let at = 0; at < count; at += 1) {
    const id = `ORD-${30_000 + at * 11 + int(9)}`;
    const customer = pick(rows.customers)[0];
    const lines = Array.from({ length: 1 + int(4) }, () => [id, pick(rows.products), 1 + int(3)]);
    const total = cents(lines.reduce((sum, [, [, , price], quantity]) => sum + price * quantity, 4.9));
    const placed = day(int(28));
    // One order in thirty-two does not agree with what was paid.
    const fault = at % 32 === 11 ? ["double", "short", "missing", "currency"][int(4)] : undefined;
    rows.orders.push([
      id,
      customer,
      placed,
      pick(["delivered", "delivered", "shipped", "packed"]),
      total,
      fault === "currency" ? "CHF" : "EUR",
      pick(["web", "web", "app", "phone"]),
    ]);
    for (const [order, [sku, , price], quantity] of lines) rows.order_lines.push([order, sku, quantity, price]);
    const pay = (amount, status = "captured") => {
      const ref = `pay_${hex(10)}`;
      rows.payments.push([
        ref,
        id,
        status,
        amount,
        pick(["card", "card", "transfer", "wallet"]),
        placed,
        `T-${100 + int(900)}`,
        JSON.stringify({
          acquirer: pick(["north", "alp", "delta"]),
          batch: `batch_${hex(6)}`,
          auth: `auth_${hex(8)}`,
          risk: int(100),
          three_ds: next() < 0.7,
          country: pick(["FR", "BE", "IT", "AT"]),
          settled: next() < 0.9,
          fee: cents(amount * 0.014),
        }),
      ]);
      provider.push([
        ref,
        id,
        amount.toFixed(2),
        status,
        `${placed}T${String(int(24)).padStart(2, "0")}:${String(int(60)).padStart(2, "0")}:00Z`,
        `batch_${hex(6)}`,
      ]);
    };
    if (fault !== "missing") pay(fault === "short" ? cents(total * 0.9) : total);
    if (fault === "double") pay(total);
    const tracking = `TRK${int(9e8) + 1e8}`;
    const carrier = pick(CARRIERS);
    rows.shipments.push([tracking, id, carrier, placed, next() < 0.8 ? day(int(28)) : null, 400 + int(9000), `${pick(CITIES)}-${1 + int(9)}`]);
    for (const [step, kind] of KINDS.slice(0, 7 + int(6)).entries()) {
      const payload = {
        actor: pick(["api", "worker-3", "worker-7", "backoffice"]),
        request_id: `req_${hex(12)}`,
        carrier,
        depot: `${pick(CITIES)}-${1 + int(9)}`,
        attempt: 1 + int(2),
        latency_ms: int(900),
        queue: pick(["orders", "billing", "stock", "parcels"]),
        node: `n-${10 + int(60)}`,
        version: `4.${int(9)}.${int(20)}`,
        trace: `tr_${hex(16)}`,
        parent: `sp_${hex(8)}`,
        bytes: 300 + int(9000),
        cached: next() < 0.3,
        note: fault && step === 2 ? `amount differs: ${fault}` : null,
      };
      rows.events.push([id, `${placed} ${String(step + 1).padStart(2, "0")}:${10 + int(49)}:00`, kind, JSON.stringify(payload)]);
    }
  }
  for (let at = 0; at < 130; at += 1) {
    const [id, customer] = pick(rows.orders);
    const [topic, subject, body] = SUBJECTS[at % SUBJECTS.length];
    const solved = at < 100;
    const ending = `Agreed with ${pick(FIRST)} of the warehouse: ${pick(["sent again", "money returned", "voucher of 10 percent", "exchanged at the pick-up point"])}, case ${`K-${4000 + int(5000)}`}, depot ${pick(CITIES)}-${1 + int(9)}.`;
    rows.tickets.push([
      `T-${7000 + at * 3}`,
      customer,
      id,
      topic,
      day(at),
      solved ? "solved" : "open",
      subject,
      `${body} Order ${id}. I would like an answer before ${day(at + 5)}.`,
      solved ? ending : null,
    ]);
  }
  const sql = [TABLES, ...Object.entries(rows).map(([table, list]) => insert(table, list))].join("\n");
  const csv = ["ref,order_id,amount,status,booked_at,batch", ...provider.map((line) => line.join(","))].join("\n");
  return { sql, csv };
}

/** Rules of the invented shop for its support, as files. */
export const RULES = {
  "kb/parcels.md": `# Parcels that do not arrive

A parcel counts as late five working days after it was handed to the carrier, and as lost after ten. Before you promise anything, look
at the shipment: the carrier, the day it was handed over and the depot that scanned it last.

- Late: open a trace with the carrier. NordPost wants the tracking number and the weight, Relais Express the depot, Kurier24 both.
  Tell the customer on which day the trace was opened and that it takes up to four working days.
- Lost: send the goods again when they are in stock, else give the money back. Never both. The second parcel goes by Kurier24.
- A parcel that is shown as delivered, although the customer says otherwise, is a claim. The carrier needs a signed form; send the
  link from the back office and wait. Nothing is sent again before the form is back.

Above 250.00 the shift lead decides. Write the decision into the ticket with the case number that the carrier gave.
`,
  "kb/payments.md": `# Payments

Two payments for one order are a double charge only when both are captured. An authorization that was not captured goes away by itself
within seven days, and the bank shows it until then.

- Double charge: give back the later of the two. Note its reference and the batch in which it was booked; accounting searches by batch.
- Less captured than the order says: do not ask the customer to pay. Report it to accounting with the order, the reference and both
  amounts.
- Another currency than that of the order: accounting corrects it. The customer gets an e-mail once it is done, not before.
- No payment at all, but the parcel has left: report it on the same day, with the customer id, and stop further orders of this customer.

Every refund is written into the graph of cases with its amount, so that the next one who opens the ticket sees it.
`,
  "kb/returns.md": `# Returns and damage

The period for returns is 30 days and begins on the day of delivery, not on that of the order. Where the shop shows that it is over, check
the day of delivery in the shipment; customers are right more often than the form.

- Broken on arrival: ask for a photo, exchange at once, do not wait for the return. The label has the depot of the first parcel.
- Wrong colour or size: exchange when the right one is in stock. The stock is that of the sku, not of the title.
- Without the original packaging we still take it back. We take nothing off.

A voucher is 10 percent of the order, at most 25.00, and only one per order. Look into earlier tickets of the same customer first.
`,
  "kb/invoices.md": `# Invoices

An invoice may be written anew within the year. It needs the company name, the address and the tax number; the order and its date stay.
The old invoice is cancelled with a number of its own. Both go to the customer in one e-mail.

- Orders by phone have the address of the caller. Ask which one is wanted.
- The currency of an invoice is that of the order.
- More than three invoices of one customer in a month: pass it to accounting with the customer id and the list of orders.
`,
};
