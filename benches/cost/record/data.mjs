// Sessions about data: payments that do not agree with orders, and sensors that drift.
import { random } from "../../synthetic.mjs";
import { ROOT } from "./agent.mjs";
import { RULES, shop } from "./shop.mjs";

const COLUMNS = "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'public' ORDER BY table_name, ordinal_position";

/** Turns of words for the same step, in order. */
const turns = (...texts) => {
  let at = 0;
  return () => texts[at++ % texts.length];
};

/** Orders whose payments differ from what they cost: each is looked into, sorted into a report, and handed to accounting. */
export const reconciliation = {
  material: () => {
    const { sql, csv } = shop(41);
    return { sql, files: { ...RULES, "exports/provider-2026-10.csv": csv } };
  },
  async run(agent) {
    agent.user(
      "The October revenue on the dashboard and what the payment provider paid out do not agree. Find the orders behind the difference, " +
        "say of each what happened, and write reports/october.md for accounting, in parts as you go. The rules are in kb/payments.md.",
    );
    await agent.rows("First the tables and their columns.", COLUMNS);
    await agent.step("The rules of accounting say what counts as a double charge; I read them before I judge anything.", "filesystem", "read_text_file", {
      path: `${ROOT}/kb/payments.md`,
    });
    await agent.rows(
      "How large is the difference on each day?",
      "SELECT o.placed_on, count(*) AS orders, sum(o.total) AS ordered, (SELECT sum(p.amount) FROM payments p WHERE p.captured_on = o.placed_on) AS captured FROM orders o GROUP BY o.placed_on ORDER BY o.placed_on",
    );
    const suspects = await agent.rows(
      "Now the orders themselves: all where the sum of captured payments is not the total, or where the currency is another one.",
      "SELECT o.id, o.customer_id, o.total, o.currency, coalesce(sum(p.amount), 0) AS captured, count(p.ref) AS payments FROM orders o LEFT JOIN payments p ON p.order_id = o.id GROUP BY o.id HAVING coalesce(sum(p.amount), 0) <> o.total OR o.currency <> 'EUR' ORDER BY o.placed_on, o.id",
    );
    const first = turns(
      "Next of the list that do not agree. What was ordered?",
      "On to the following one of the orders in question, beginning with its lines.",
      "That one is clear. The next suspicious order: which goods, at which prices?",
      "I take the next order with a difference and look at what was bought.",
    );
    const found = [];
    for (const [at, suspect] of suspects.entries()) {
      await agent.rows(
        at === 0 ? "The first of them: what was ordered?" : first(),
        `SELECT l.sku, p.title, l.quantity, l.price, p.price AS list_price, p.weight_g FROM order_lines l JOIN products p ON p.sku = l.sku WHERE l.order_id = '${suspect.id}'`,
      );
      const payments = await agent.rows("And what was paid for it?", `SELECT * FROM payments WHERE order_id = '${suspect.id}' ORDER BY captured_on, ref`);
      await agent.rows("The events of this order may say why.", `SELECT at, kind, payload FROM events WHERE order_id = '${suspect.id}' ORDER BY at`);
      if (payments.length > 0)
        await agent.shell(
          "What does the provider's export have for it?",
          `grep -n ${payments.at(-1).ref} exports/provider-2026-10.csv; grep -c . exports/provider-2026-10.csv`,
        );
      const neighbours = await agent.rows(
        "Is it this order alone, or did the same customer have others around that day?",
        `SELECT o.id, o.placed_on, o.status, o.total, o.currency, o.channel, s.tracking, s.carrier, s.delivered_on FROM orders o LEFT JOIN shipments s ON s.order_id = o.id WHERE o.customer_id = '${suspect.customer_id}' ORDER BY o.placed_on`,
      );
      const other = neighbours.find(({ id }) => id !== suspect.id);
      if (other)
        await agent.rows(
          "For comparison the events of an order of the same customer that is in order.",
          `SELECT at, kind, payload FROM events WHERE order_id = '${other.id}' ORDER BY at`,
        );
      found.push({ ...suspect, refs: payments.map(({ ref }) => ref), others: neighbours.length });
      if (at % 4 === 3 || at === suspects.length - 1) {
        const part = found.slice(at - (at % 4));
        const lines = part.map(
          ({ id, customer_id: customer, total, captured, refs, currency }) =>
            `| ${id} | ${customer} | ${total} ${currency} | ${captured} | ${refs.join(", ") || "none"} |`,
        );
        await agent.step(
          `That makes ${part.length} more for the report. I write this part down, with customer, both amounts and the references.`,
          "filesystem",
          "write_file",
          {
            path: `${ROOT}/reports/october-${1 + Math.floor(at / 4)}.md`,
            content: `| Order | Customer | Ordered | Captured | References |\n|---|---|---|---|---|\n${lines.join("\n")}\n`,
          },
        );
        await agent.rows(
          "A look at how events of all orders of that kind are spread, to be sure that it is no single worker.",
          "SELECT payload->>'actor' AS actor, payload->>'note' AS note, count(*) FROM events WHERE payload->>'note' IS NOT NULL GROUP BY 1, 2 ORDER BY 3 DESC",
        );
      }
    }
    agent.user(
      "Good. Three things for accounting: the batches of all double charges, the depots of what left unpaid, and everyone concerned in the graph of cases, with the amount.",
    );
    const doubles = found.filter(({ refs }) => refs.length > 1);
    for (const one of doubles)
      await agent.shell(
        "The batch in which the later payment of a double charge was booked.",
        `grep -n -E "${one.refs.join("|")}" exports/provider-2026-10.csv | cut -d, -f1,3,5,6`,
      );
    for (const one of found.filter(({ refs }) => refs.length === 0))
      await agent.rows("It left without a payment: where is the parcel now?", `SELECT * FROM shipments WHERE order_id = '${one.id}'`);
    for (const one of found.slice(0, 8)) {
      await agent.step("Next of the customers concerned into the graph of cases, with the order and what was captured.", "memory", "create_entities", {
        entities: [{ name: one.customer_id, entityType: "customer", observations: [`order ${one.id}: ordered ${one.total}, captured ${one.captured}`] }],
      });
    }
    await agent.step("What does the graph hold now?", "memory", "read_graph", {});
    agent.say("All orders behind the difference are in the report and in the graph; the batches are listed for accounting.");
  },
};

const AREAS = ["press", "oven", "mixer", "conveyor", "chiller", "boiler"];

/** Sensors of an invented plant as files: readings by the hour, calibrations, incidents and notes of those who were there. */
function plant(seed) {
  const next = random(seed);
  const int = (below) => Math.floor(next() * below);
  const pick = (list) => list[int(list.length)];
  const sensors = Array.from({ length: 60 }, (_, at) => ({
    id: `SN-${410 + at * 17}`,
    area: AREAS[at % AREAS.length],
    unit: pick(["bar", "C", "mm/s"]),
    base: 20 + int(160),
    drift: at % 4 === 2 ? 0.05 + next() * 0.1 : 0,
    serial: `sr_${int(16 ** 7).toString(16)}${at}`,
  }));
  const readings = sensors.map(({ id, base, drift }) => {
    const lines = ["hour,value,quality,gateway,supply_v,ambient_c,packets"];
    for (let hour = 0; hour < 168; hour += 1)
      lines.push(
        `2026-11-${String(9 + Math.floor(hour / 24)).padStart(2, "0")}T${String(hour % 24).padStart(2, "0")}:00Z,${(base + (next() - 0.5) * 4 + drift * hour).toFixed(2)},${next() < 0.96 ? "ok" : "stale"},gw-${1 + int(4)},${(23.5 + next()).toFixed(2)},${(18 + next() * 9).toFixed(1)},${40 + int(20)}`,
      );
    return [`readings/${id}.csv`, `${lines.join("\n")}\n`];
  });
  const registry = [
    "id,area,unit,serial,installed,calibration",
    ...sensors.map(({ id, area, unit, serial }) => `${id},${area},${unit},${serial},2024-0${1 + int(9)}-1${int(10)},CAL-${5000 + int(4000)}`),
  ];
  const calibrations = sensors.map(({ id, serial, base }, at) => {
    const cal = registry[at + 1].split(",").at(-1);
    const points = Array.from({ length: 44 }, (_, point) => ({
      reference: base + point * 3,
      shown: Number((base + point * 3 + (next() - 0.5)).toFixed(2)),
      uncertainty: Number((next() * 0.3).toFixed(3)),
    }));
    return [
      `calibrations/${cal}.json`,
      `${JSON.stringify({ certificate: cal, sensor: id, serial, laboratory: pick(["Metra", "Nordcal", "Prufhaus"]), technician: pick(["F. Lund", "G. Toth", "H. Vidal"]), offset: Number((next() * 2 - 1).toFixed(3)), points }, null, 1)}\n`,
    ];
  });
  const incidents = Array.from({ length: 110 }, (_, at) => {
    const sensor = pick(sensors);
    return `2026-11-${String(9 + (at % 7)).padStart(2, "0")} ${String(int(24)).padStart(2, "0")}:${String(int(60)).padStart(2, "0")} INC-${8000 + at * 9} ${sensor.id} ${sensor.area}: ${pick(["value above the upper limit for ten minutes", "gateway lost the sensor", "operator reset the alarm by hand", "reading jumped and came back", "valve was opened for cleaning"])}; shift ${pick(["early", "late", "night"])}, order WO-${3000 + int(6000)}`;
  });
  return Object.fromEntries([...readings, ["registry.csv", `${registry.join("\n")}\n`], ...calibrations, ["incidents.log", `${incidents.join("\n")}\n`]]);
}

/** Sensors that drift: found in the readings, compared with their calibration, and given to maintenance. */
export const drift = {
  material: () => ({ files: plant(77) }),
  async run(agent) {
    agent.user(
      "Quality says that some of the sensors drifted last week (9 to 15 November). Find out which, whether their calibration explains it " +
        "and what happened around them, and write one work order file for each that has to be replaced. Readings, registry, calibrations and the incident log are in the project.",
    );
    await agent.shell("What is there?", "ls; ls readings | wc -l; ls calibrations | head -70; wc -l registry.csv incidents.log");
    const registry = await agent.shell("The registry says which sensor is where, and which certificate it has.", "cat registry.csv");
    const certificate = new Map(
      registry
        .split("\n")
        .slice(1)
        .map((line) => line.split(","))
        .map((cells) => [cells[0], cells.at(-1)]),
    );
    const serial = new Map(
      registry
        .split("\n")
        .slice(1)
        .map((line) => line.split(","))
        .map((cells) => [cells[0], cells[3]]),
    );
    await agent.shell("How does a file of readings look?", "for f in $(ls readings | head -1); do head -20 readings/$f; done");
    const slopes = await agent.shell(
      "For every sensor the mean of the first and of the last day, and their difference, the largest first.",
      "for f in readings/*.csv; do awk -F, -v f=$(basename $f .csv) 'NR>1 && NR<=25 {a+=$2} NR>145 {b+=$2; n++} END {printf \"%s first %.2f last %.2f difference %.2f\\n\", f, a/24, b/n, b/n-a/24}' $f; done | sort -t' ' -k7 -g -r",
    );
    const drifting = slopes
      .split("\n")
      .filter((line) => Number(line.split(" ").at(-1)) > 3)
      .map((line) => line.split(" ")[0]);
    const opening = turns(
      "The next sensor of the ranking. Its readings of the whole week.",
      "On with the one after it in the list of differences: does it climb steadily, or in one jump?",
      "Another one that drifted. I look at how its values went over the week.",
    );
    const done = [];
    for (const [at, sensor] of drifting.entries()) {
      await agent.shell(at === 0 ? "The worst first: its readings of the whole week." : opening(), `cat readings/${sensor}.csv`);
      await agent.step("What does the certificate that the registry names for it say?", "filesystem", "read_text_file", {
        path: `${ROOT}/calibrations/${certificate.get(sensor)}.json`,
      });
      const incidents = await agent.shell("What happened around it in that week?", `grep -n ${sensor} incidents.log`);
      await agent.shell(
        "Was its gateway stale at the same time? Then it would be no drift.",
        `grep -n stale readings/${sensor}.csv; awk -F, 'NR>1 {c[$4]++} END {for (g in c) print g, c[g]}' readings/${sensor}.csv | sort`,
      );
      done.push({ sensor, orders: incidents.match(/WO-\d+/g) ?? [] });
      if (at % 2 === 1) {
        const other = done[at - 1];
        await agent.step(
          "Both need replacing. The work order of the earlier one, with its serial number, its certificate and the orders that were open for it.",
          "filesystem",
          "write_file",
          {
            path: `${ROOT}/orders/replace-${at}.md`,
            content: `Replace ${other.sensor}\nserial ${serial.get(other.sensor)}\ncertificate ${certificate.get(other.sensor)}\nopen orders ${other.orders.join(", ") || "none"}\n`,
          },
        );
        await agent.step("And that of the later one.", "filesystem", "write_file", {
          path: `${ROOT}/orders/replace-${at + 1}.md`,
          content: `Replace ${sensor}\nserial ${serial.get(sensor)}\ncertificate ${certificate.get(sensor)}\nopen orders ${done[at].orders.join(", ") || "none"}\n`,
        });
      }
    }
    agent.user(
      "Maintenance asks whether the ones next to them in the same area are fine. Check two neighbours of each of the first four, and list their certificates with the offset.",
    );
    for (const { sensor } of done.slice(0, 4)) {
      const area = registry
        .split("\n")
        .find((line) => line.startsWith(`${sensor},`))
        .split(",")[1];
      const neighbours = registry
        .split("\n")
        .filter((line) => line.split(",")[1] === area && !drifting.includes(line.split(",")[0]))
        .slice(0, 2);
      for (const line of neighbours) {
        const id = line.split(",")[0];
        await agent.shell(`A neighbour in the area of the ${area}: how did it go over the week?`, `awk -F, 'NR==1 || NR%2==0' readings/${id}.csv`);
        await agent.step("And the certificate of that neighbour, for the offset.", "filesystem", "read_text_file", {
          path: `${ROOT}/calibrations/${certificate.get(id)}.json`,
        });
      }
    }
    for (const { sensor } of done.slice(0, 5))
      await agent.step("Into the graph of the plant: the sensor, its serial number and that it was reported.", "memory", "create_entities", {
        entities: [{ name: sensor, entityType: "sensor", observations: [`serial ${serial.get(sensor)}`, "drifted in week 46, replacement ordered"] }],
      });
    await agent.shell("The order files, all at once, to check them.", "cat orders/*.md");
    agent.say("Each drifting sensor has a work order, and the neighbours do not drift.");
  },
};
