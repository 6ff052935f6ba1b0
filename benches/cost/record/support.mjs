// Sessions of support: a desk that answers one ticket after the other, a help desk of this package, and a wave of tickets at once.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { random } from "../../synthetic.mjs";
import { ROOT } from "./agent.mjs";
import { RULES, shop } from "./shop.mjs";

const RULE_OF = { parcel: "parcels", double: "payments", broken: "returns", wrong: "returns", return: "returns", invoice: "invoices" };
const ABOUT = {
  parcel: "a parcel that does not arrive",
  double: "a double charge",
  broken: "something that arrived broken",
  wrong: "a wrong colour",
  invoice: "an invoice for a company",
  return: "a return that the form refuses",
};

const ticketSql = (topic, skip) =>
  `SELECT t.id, t.customer_id, t.order_id, t.opened_on, t.subject, t.body, c.name, c.city FROM tickets t JOIN customers c ON c.id = t.customer_id WHERE t.status = 'open' AND t.topic = '${topic}' ORDER BY t.opened_on, t.id OFFSET ${skip} LIMIT 1`;
const earlierSql = (topic) =>
  `SELECT id, order_id, opened_on, subject, body, resolution FROM tickets WHERE status = 'solved' AND topic = '${topic}' ORDER BY opened_on DESC, id LIMIT 9`;
const historySql = (customer) =>
  `SELECT o.id, o.placed_on, o.status, o.total, o.currency, s.tracking, s.carrier, s.handed_on, s.delivered_on, s.weight_g, s.depot FROM orders o LEFT JOIN shipments s ON s.order_id = o.id WHERE o.customer_id = '${customer}' ORDER BY o.placed_on`;

/** What is looked up for a ticket. */
async function look(agent, ticket, topic, rulesRead) {
  const [customer] = await agent.rows(
    `Who is it? The account behind this ticket about ${ABOUT[topic]}.`,
    `SELECT * FROM customers WHERE id = '${ticket.customer_id}'`,
  );
  const history = await agent.rows("All orders of the account with their parcels, as the rules ask for earlier cases.", historySql(ticket.customer_id));
  const order = history.find(({ id }) => id === ticket.order_id);
  if (order.tracking)
    await agent.rows(
      "Does its depot have other parcels of that carrier that stand still?",
      `SELECT s.tracking, s.order_id, s.handed_on, s.delivered_on, s.weight_g, o.status, o.total FROM shipments s JOIN orders o ON o.id = s.order_id WHERE s.depot = '${order.depot}' ORDER BY s.handed_on LIMIT 16`,
    );
  const lines = await agent.rows(
    "What is in the order that the ticket names?",
    `SELECT l.sku, p.title, l.quantity, l.price, p.weight_g FROM order_lines l JOIN products p ON p.sku = l.sku WHERE l.order_id = '${ticket.order_id}'`,
  );
  const payments = await agent.rows("How was it paid?", `SELECT * FROM payments WHERE order_id = '${ticket.order_id}' ORDER BY captured_on, ref`);
  await agent.rows(
    "The events of the order, to see who touched it last.",
    `SELECT at, kind, payload FROM events WHERE order_id = '${ticket.order_id}' ORDER BY at`,
  );
  if (!rulesRead.has(RULE_OF[topic])) {
    rulesRead.add(RULE_OF[topic]);
    await agent.step(`The rules of the desk for ${ABOUT[topic]}.`, "filesystem", "read_text_file", { path: `${ROOT}/kb/${RULE_OF[topic]}.md` });
  }
  await agent.rows("How were the last tickets of this kind solved?", earlierSql(topic));
  return { topic, ticket, customer, order, lines, payments };
}

function reply({ topic, ticket, customer, order, payments }) {
  const facts = {
    parcel: `We opened a trace for parcel ${order.tracking} (${order.carrier}, ${order.weight_g} g, depot ${order.depot}).`,
    double: `We looked at payment ${payments.at(-1)?.ref ?? "none"} of ${payments.at(-1)?.amount ?? "0.00"}.`,
    broken: `We exchange it; the label is for depot ${order.depot}.`,
    wrong: `We exchange it; the label is for depot ${order.depot}.`,
    invoice: `The invoice over ${order.total} ${order.currency} is written anew.`,
    return: `The period begins with the delivery of ${order.tracking}; you may send it back.`,
  };
  return `To: ${customer.email}\nTicket: ${ticket.id}\nOrder: ${ticket.order_id}\n\nDear ${customer.name},\n\n${facts[topic]} We write again as soon as there is news.\n`;
}

/** A shift lead who passes on one ticket after the other, and comes back to earlier ones. */
export const desk = {
  material: () => ({ sql: shop(58).sql, files: RULES }),
  async run(agent) {
    const plan = ["parcel", "double", "broken", "invoice", "parcel", "return", "wrong", "double", "broken", "return", "parcel", "invoice", "wrong", "double"];
    const asked = {
      parcel: "Someone waits for a parcel: take the oldest open ticket of that kind, find out what happened and draft the answer.",
      double: "Next: the oldest open ticket about being charged twice. Check whether it is true before you draft anything.",
      broken: "Then one where something arrived broken, please, the same way.",
      invoice: "A company wants its invoice anew. Please prepare it.",
      return: "There is one who cannot send something back. What do the rules say, and what do we answer?",
      wrong: "And one with a wrong colour.",
    };
    const rulesRead = new Set();
    const taken = {};
    const cases = [];
    for (const [at, topic] of plan.entries()) {
      agent.user(taken[topic] === undefined ? asked[topic] : `One more of that kind: ${ABOUT[topic]}. The next oldest.`);
      const [ticket] = await agent.rows(`The open ticket about ${ABOUT[topic]}.`, ticketSql(topic, taken[topic] ?? 0));
      taken[topic] = (taken[topic] ?? 0) + 1;
      const one = await look(agent, ticket, topic, rulesRead);
      cases.push(one);
      await agent.step("Now the draft: address, ticket, order, and what we do.", "filesystem", "write_file", {
        path: `${ROOT}/drafts/${at + 1}.md`,
        content: reply(one),
      });
      await agent.step("And a note in the graph of cases for whoever opens it next.", "memory", "create_entities", {
        entities: [{ name: ticket.id, entityType: "ticket", observations: [`${topic}: draft ${at + 1} written for order ${ticket.order_id}`] }],
      });
      agent.say(`The draft for the ticket about ${ABOUT[topic]} is ready.`);
      if (at === 4) {
        const first = cases[0];
        agent.user("The very first one, with the late parcel, called just now: the carrier wants to know where to look. Send them what they need for a trace.");
        await agent.step("The trace for the parcel of the first ticket: tracking number, weight and depot go to the carrier.", "filesystem", "write_file", {
          path: `${ROOT}/drafts/trace-1.md`,
          content: `Trace\nparcel ${first.order.tracking}\nweight ${first.order.weight_g} g\ndepot ${first.order.depot}\n`,
        });
        agent.say("The trace is written.");
      }
      if (at === 6) {
        const second = cases[1];
        agent.user("Accounting asks about the one who was charged twice, this morning: which payment was it, and did that terminal have others that day?");
        const payment = second.payments.at(-1);
        if (payment)
          await agent.rows(
            "Payments of that terminal around the reference in question.",
            `SELECT * FROM payments WHERE terminal = '${payment.terminal}' OR ref = '${payment.ref}' ORDER BY captured_on`,
          );
        await agent.step("Into the graph, so that accounting finds it.", "memory", "add_observations", {
          observations: [{ entityName: second.ticket.id, contents: [`payment ${payment?.ref}, ${payment?.amount}, order ${second.ticket.order_id}`] }],
        });
        agent.say("The payment and its terminal are in the graph.");
      }
    }
    agent.user("Before the shift ends: the two parcels and the two broken ones in one list for tomorrow, with ticket, order, tracking number and e-mail.");
    const listed = cases.filter(({ topic }) => topic === "parcel" || topic === "broken");
    const lines = listed.map(({ ticket, order, customer }) => `${ticket.id} ${ticket.order_id} ${order.tracking} ${customer.email}`);
    await agent.step("The list for tomorrow, out of the cases of today.", "filesystem", "write_file", {
      path: `${ROOT}/drafts/tomorrow.md`,
      content: `${lines.join("\n")}\n`,
    });
    agent.say("The list is in the drafts.");
  },
};

/** Codes of this package that users report, with the pages of its documents that are about it. */
const REPORTS = [
  ["BUDGET_EXCEEDED", ["budgets.md", "tools.md"], "throws since they put more tools in, although the conversation is short"],
  ["QUOTA_EXCEEDED", ["storage.md", "sessions.md"], "fails after some days; a restart helps for a while"],
  ["ARTIFACT_EXPIRED", ["firewall.md", "api.md"], "fails an hour later when a result is read on from its handle"],
  ["UNSUPPORTED_PROTOCOL", ["mcp.md", "gateway.md"], "does not come up behind their proxy"],
  ["SNAPSHOT_VERSION", ["sessions.md", "compat.md"], "cannot open sessions that an older release has written"],
  ["CALLBACK_FAILED", ["tools.md", "telemetry.md"], "stops in the middle of a turn when their summarizer is slow"],
  ["POLICY_VIOLATION", ["gateway.md", "security.md"], "refuses a call that was fine the day before"],
  ["DISPOSED", ["runtimes.md", "cli.md"], "fails in tests that run beside each other"],
];

function helpdesk(docs, seed) {
  const next = random(seed);
  const int = (below) => Math.floor(next() * below);
  const pick = (list) => list[int(list.length)];
  const quoted = (value) => `'${String(value).replaceAll("'", "''")}'`;
  const sql = [
    "CREATE TABLE projects (id text PRIMARY KEY, team text, contact text, version text, runtime text, adapter text, plan text);",
    "CREATE TABLE reports (id text PRIMARY KEY, project_id text, code text, opened_on date, status text, body text);",
    "CREATE TABLE traces (report_id text, seq int, at timestamp, step text, code text, path text, detail json);",
    "CREATE TABLE fixes (id text PRIMARY KEY, code text, version text, summary text);",
  ];
  const projects = Array.from({ length: 40 }, (_, at) => ({
    id: `PRJ-${600 + at * 7}`,
    contact: `dev${at}.${pick(["lund", "toth", "vidal", "costa", "holm"])}@team.example`,
  }));
  for (const { id, contact } of projects)
    sql.push(
      `INSERT INTO projects VALUES (${[id, `team ${pick(["amber", "birch", "cedar", "delta", "ember"])}`, contact, `0.${10 + int(9)}.${int(5)}`, pick(["node", "workerd", "bun", "deno"]), pick(["openai", "anthropic", "ai-sdk", "langchain"]), pick(["free", "team"])].map(quoted).join(", ")});`,
    );
  for (const [at, [code]] of [...REPORTS, ...REPORTS, ...REPORTS].entries()) {
    const id = `REP-${1200 + at * 13}`;
    sql.push(
      `INSERT INTO reports VALUES (${[id, pick(projects).id, code, `2026-10-${String(1 + at).padStart(2, "0")}`, at < 8 ? "open" : "closed", `${code}: it ${REPORTS[at % 8][2]}. It happens ${pick(["each time", "one time in ten", "under load only"])}; the trace is attached.`].map(quoted).join(", ")});`,
    );
    for (let seq = 1; seq <= 30; seq += 1) {
      const detail = {
        session: `ses_${int(16 ** 8).toString(16)}`,
        step_ms: int(400),
        items: 40 + int(900),
        budget: pick([8000, 16000, 32000]),
        used: int(16000),
        artifact: `art_${int(16 ** 8).toString(16)}`,
        retry: int(3),
        depth: int(9),
        kept: int(400),
        dropped: int(300),
        handle: `h_${int(16 ** 6).toString(16)}`,
        worker: `w-${int(40)}`,
        model: pick(["model-a", "model-b"]),
      };
      const failed = seq === 30 - (at % 3);
      sql.push(
        `INSERT INTO traces VALUES (${quoted(id)}, ${seq}, '2026-10-${String(1 + at).padStart(2, "0")} 0${1 + (seq % 9)}:${10 + seq}:00', ${quoted(pick(["ingest", "build", "route", "fit", "view", "recall"]))}, ${failed ? quoted(code) : "NULL"}, ${failed ? quoted(`/items/${int(90)}/text`) : "NULL"}, ${quoted(JSON.stringify(detail))});`,
      );
    }
  }
  for (const [at, [code]] of REPORTS.entries())
    for (let n = 0; n < 3; n += 1)
      sql.push(
        `INSERT INTO fixes VALUES (${[`FIX-${300 + at * 31 + n * 7}`, code, `0.${15 + n}.${n}`, `${code} ${["is thrown earlier, before anything was written", "names the path of the field", "no longer occurs when two calls overlap"][n]}`].map(quoted).join(", ")});`,
      );
  const files = Object.fromEntries(
    readdirSync(docs)
      .filter((file) => file.endsWith(".md"))
      .map((file) => [`docs/${file}`, readFileSync(join(docs, file), "utf8")]),
  );
  return { sql: sql.join("\n"), files };
}

/** The help desk of this package: reports with traces, answered out of its documents. */
export const codes = {
  material: (home) => helpdesk(join(home, "docs"), 19),
  async run(agent) {
    agent.user(
      "You answer reports about contextweaver. Its documents are in docs/, reports, traces and known fixes in the database. Take the open reports one by one; begin with an overview.",
    );
    await agent.rows("What is open?", "SELECT id, project_id, code, opened_on, body FROM reports WHERE status = 'open' ORDER BY opened_on");
    await agent.shell("Which documents are there, and how long are they?", "wc -c docs/*.md");
    const open = await agent.rows(
      "Who is behind the open reports, with version and runtime?",
      "SELECT r.id AS report, r.code, p.* FROM reports r JOIN projects p ON p.id = r.project_id WHERE r.status = 'open' ORDER BY r.opened_on",
    );
    const answered = [];
    for (const [at, one] of open.entries()) {
      const [code, pages, symptom] = REPORTS.find(([name]) => name === one.code);
      if (at === 2) agent.user("Go on. Where the documents do not say it clearly, note the page for us.");
      const trace = await agent.rows(
        `The next open report (${symptom}). Its trace first.`,
        `SELECT seq, at, step, code, path, detail FROM traces WHERE report_id = '${one.report}' ORDER BY seq`,
      );
      await agent.shell("Where do the documents name this error?", `grep -n ${code} docs/*.md | cut -c1-220 | head -20`);
      await agent.step("I read the page that is about it.", "filesystem", "read_text_file", { path: `${ROOT}/docs/${pages[0]}` });
      await agent.step("And the one that users would look at first.", "filesystem", "read_text_file", { path: `${ROOT}/docs/${pages[1]}`, head: 80 });
      const fixes = await agent.rows("Is there a fix that this project does not have yet?", `SELECT * FROM fixes WHERE code = '${code}' ORDER BY version`);
      await agent.rows(
        "Did others report the same, and what did their traces have in common?",
        `SELECT r.id, r.project_id, r.status, t.seq, t.step, t.path, t.detail->>'budget' AS budget, t.detail->>'items' AS items FROM reports r JOIN traces t ON t.report_id = r.id AND t.code IS NOT NULL WHERE r.code = '${code}' ORDER BY r.opened_on`,
      );
      const failed = trace.find((row) => row.code !== null);
      await agent.step("The answer: whom it goes to, the report, what failed, and the fix to install.", "filesystem", "write_file", {
        path: `${ROOT}/answers/${at + 1}.md`,
        content: `To: ${one.contact}\nReport ${one.report}, project ${one.id}\n\nIt failed in ${failed.step} at ${failed.path}, session ${failed.detail.session}. Install ${fixes.at(-1).version} (${fixes.at(-1).id}).\n`,
      });
      answered.push({ ...one, failed, fix: fixes.at(-1) });
      agent.say("Answered.");
      if (at === 5) {
        const second = answered[1];
        agent.user(
          "The team with the report that came second wrote back: the fix did not help. Which session was it, and which artifact? Look for these in all traces.",
        );
        await agent.rows(
          "The session and the artifact of the second report, wherever they occur.",
          `SELECT report_id, seq, step, detail FROM traces WHERE detail->>'session' = '${second.failed.detail.session}' OR detail->>'artifact' = '${second.failed.detail.artifact}'`,
        );
        agent.say("Both occur in that trace alone.");
      }
    }
    agent.user("At last write one summary for the maintainers: project, contact, fix and failing session of each, and put the fixes into the graph.");
    for (const half of [answered.slice(0, 4), answered.slice(4)]) {
      await agent.step("A part of the summary, out of the answers so far.", "filesystem", "write_file", {
        path: `${ROOT}/answers/summary-${half[0].report}.md`,
        content: half.map(({ id, contact, fix, failed }) => `${id} ${contact} ${fix.id} ${failed.detail.session}`).join("\n"),
      });
    }
    for (const { fix, report } of answered)
      await agent.step("One more fix into the graph, with its report.", "memory", "create_entities", {
        entities: [{ name: fix.id, entityType: "fix", observations: [`closes ${report}`] }],
      });
    agent.say("The summary and the graph are complete.");
  },
};

/** A wave: many tickets of three kinds, looked through first and answered afterwards. */
export const wave = {
  material: () => ({ sql: shop(93, { orders: 720 }).sql, files: RULES }),
  async run(agent) {
    agent.user(
      "There was a strike at the carriers and the tickets have piled up. Look through everything open about parcels, damage and double charges, sort it by what the rules demand, then answer in that order. You need not ask me in between.",
    );
    const rulesRead = new Set();
    const open = await agent.rows(
      "Everything open of these three kinds, oldest first.",
      "SELECT id, customer_id, order_id, topic, opened_on, subject, body FROM tickets WHERE status = 'open' AND topic IN ('parcel', 'broken', 'double') ORDER BY opened_on, id",
    );
    for (const topic of ["parcel", "broken", "double"]) {
      rulesRead.add(RULE_OF[topic]);
      await agent.step(`What do the rules say about ${ABOUT[topic]}?`, "filesystem", "read_text_file", { path: `${ROOT}/kb/${RULE_OF[topic]}.md` });
    }
    const shipped = await agent.rows(
      "The parcels of all of them at once, to tell late from lost.",
      `SELECT t.id AS ticket, s.* FROM tickets t JOIN shipments s ON s.order_id = t.order_id WHERE t.status = 'open' AND t.topic IN ('parcel', 'broken', 'double') ORDER BY s.handed_on`,
    );
    const parcel = new Map(shipped.map((row) => [row.ticket, row]));
    await agent.rows(
      "How did the desk solve such tickets in the weeks before?",
      "SELECT topic, opened_on, resolution FROM tickets WHERE status = 'solved' AND topic IN ('parcel', 'broken', 'double') ORDER BY opened_on DESC LIMIT 25",
    );
    agent.say("Lost parcels come first, then double charges, then damage, then what is only late.");
    const order = ["parcel", "double", "broken"].flatMap((topic) => open.filter((ticket) => ticket.topic === topic));
    for (const [at, ticket] of order.slice(0, 14).entries()) {
      const [customer] = await agent.rows(
        `The next of the pile, ${ABOUT[ticket.topic]}: whose is it?`,
        `SELECT * FROM customers WHERE id = '${ticket.customer_id}'`,
      );
      await agent.rows(
        "The order, its goods and their weight.",
        `SELECT o.*, l.sku, p.title, l.quantity, p.weight_g FROM orders o JOIN order_lines l ON l.order_id = o.id JOIN products p ON p.sku = l.sku WHERE o.id = '${ticket.order_id}'`,
      );
      await agent.rows(
        "Events and payments of it.",
        `SELECT e.at, e.kind, e.payload, p.ref, p.amount, p.status FROM events e LEFT JOIN payments p ON p.order_id = e.order_id WHERE e.order_id = '${ticket.order_id}' ORDER BY e.at`,
      );
      await agent.rows("What else does the account have on its way?", historySql(ticket.customer_id));
      await agent.rows(
        "Earlier tickets of this account.",
        `SELECT id, order_id, topic, opened_on, status, body, resolution FROM tickets WHERE customer_id = '${ticket.customer_id}' ORDER BY opened_on`,
      );
      const { tracking, depot, carrier } = parcel.get(ticket.id);
      await agent.rows(
        "Other parcels that stand in that depot.",
        `SELECT s.tracking, s.order_id, s.handed_on, s.delivered_on, s.weight_g, o.status, o.total FROM shipments s JOIN orders o ON o.id = s.order_id WHERE s.depot = '${depot}' ORDER BY s.handed_on LIMIT 20`,
      );
      await agent.step("The answer, with the parcel as the list of parcels has it.", "filesystem", "write_file", {
        path: `${ROOT}/drafts/${at + 1}.md`,
        content: `To: ${customer.email}\nTicket ${ticket.id}\n\nDear ${customer.name},\n\nyour parcel ${tracking} is with ${carrier}; ${depot} had it last.\n`,
      });
      if (at % 5 === 4) {
        const three = order.slice(at - 2, at + 1);
        await agent.step("What the carriers get: the last three, with order and tracking number.", "filesystem", "write_file", {
          path: `${ROOT}/carriers/${at}.csv`,
          content: three.map(({ id, order_id: one }) => `${id},${one},${parcel.get(id).tracking},${parcel.get(id).depot}`).join("\n"),
        });
      }
    }
    agent.user("Well done. For the ones that were charged twice accounting needs order, customer and parcel in the graph.");
    for (const ticket of order.filter(({ topic }) => topic === "double").slice(0, 5))
      await agent.step("One of the double charges into the graph of cases.", "memory", "create_entities", {
        entities: [
          {
            name: ticket.order_id,
            entityType: "order",
            observations: [`ticket ${ticket.id}`, `customer ${ticket.customer_id}`, `parcel ${parcel.get(ticket.id).tracking}`],
          },
        ],
      });
    agent.say("They are in the graph.");
  },
};
