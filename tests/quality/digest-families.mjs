// Writes digest-families.json: invented results of tools with planted facts. `node tests/quality/digest-families.mjs`
//
// Families marked `held` were written before the digests were tuned and were not looked at while tuning.
import { writeFileSync } from "node:fs";

let state = 20260301n;
const next = (bound) => {
  state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
  return Number((state >> 33n) % BigInt(bound));
};
const pick = (list) => list[next(list.length)];
const between = (low, high) => low + next(high - low + 1);
const hex = (digits) => Array.from({ length: digits }, () => "0123456789abcdef"[next(16)]).join("");
const pad = (value, width) => String(value).padEnd(width);
const two = (value) => String(value).padStart(2, "0");
const range = (count) => Array.from({ length: count }, (_, index) => index);
const WORDS =
  "amber basalt cobalt delta ember flint garnet harbor indigo jasper kelp lagoon meadow nectar opal prairie quartz russet sable tundra umber violet willow zephyr".split(
    " ",
  );
const PEOPLE = ["Ana Ruiz", "Bo Lindqvist", "Chidi Obi", "Dana Katz", "Emre Kaya", "Fumi Sato", "Greta Holm", "Hugo Sanz"];
const word = () => pick(WORDS);
const words = (count) => range(count).map(word).join(" ");
const sentence = (count) => {
  const text = words(count);
  return `${text[0].toUpperCase()}${text.slice(1)}.`;
};

const families = [];
const family = (name, held, media_type, text, needles) => {
  for (const [kind, needle] of needles) {
    if (kind !== "aggregate" && !text.includes(needle)) throw new Error(`${name}: ${needle} is not in the text`);
  }
  families.push({ name, held, media_type, text, needles: needles.map(([kind, needle]) => ({ class: kind, needle })) });
};

{
  // kubectl get pods
  const pod = (name, ready, status, restarts, age) => `${pad("shop", 12)}${pad(name, 36)}${pad(ready, 8)}${pad(status, 20)}${pad(restarts, 14)}${age}`;
  const names = range(58).map(() => `${word()}-${hex(9)}-${hex(5)}`);
  const rows = names.map((name) => pod(name, "1/1", "Running", String(next(3)), `${between(2, 30)}d`));
  const bad = `ledger-${hex(9)}-x9k2p`;
  rows.splice(37, 0, pod(bad, "0/1", "CrashLoopBackOff", "214 (3m ago)", "18h"));
  rows.splice(44, 0, pod(`importer-${hex(9)}-q7wzt`, "0/1", "ImagePullBackOff", "0", "41m"));
  family(
    "kubectl get pods",
    false,
    "text/plain",
    ["NAMESPACE   NAME                                READY   STATUS              RESTARTS      AGE", ...rows].join("\n"),
    [
      ["error", bad],
      ["error", "CrashLoopBackOff"],
      ["anomaly", "214 (3m ago)"],
      ["error", "ImagePullBackOff"],
      ["aggregate", "60"],
      ["lookup", names[20]],
    ],
  );
}
{
  // docker build
  const steps = range(14).map(
    (n) =>
      `#${n + 5} [build ${n + 2}/16] ${n % 3 ? `COPY ${word()}/ ./${word()}/` : `RUN apt-get install -y lib${word()}-dev`}\n#${n + 5} sha256:${hex(64)} ${between(1, 90)}.${between(10, 99)}MB / ${between(90, 190)}.2MB ${between(1, 9)}.${next(10)}s done\n#${n + 5} extracting sha256:${hex(64)} ${next(9)}.${next(10)}s done\n#${n + 5} DONE ${between(1, 20)}.${next(10)}s\n`,
  );
  family(
    "docker build log",
    false,
    "text/plain",
    `#1 [internal] load build definition from Dockerfile.api\n#1 transferring dockerfile: 2.31kB done\n#1 DONE 0.0s\n\n${steps.join("\n")}\n#19 [build 16/16] RUN npm ci --omit=dev\n#19 4.218 npm warn deprecated har-validator@5.1.5: this library is no longer supported\n#19 11.07 npm error code ERESOLVE\n#19 11.07 npm error ERESOLVE could not resolve\n#19 11.08 npm error While resolving: @shop/checkout@7.3.1\n#19 11.08 npm error Found: react@19.0.0\n#19 ERROR: process "/bin/sh -c npm ci --omit=dev" did not complete successfully: exit code: 1\n------\n > [build 16/16] RUN npm ci --omit=dev:\n11.07 npm error code ERESOLVE\n------\nDockerfile.api:41\n--------------------\n  40 |     COPY package*.json ./\n  41 | >>> RUN npm ci --omit=dev\n--------------------\nERROR: failed to solve: process "/bin/sh -c npm ci --omit=dev" did not complete successfully: exit code: 1\n`,
    [
      ["error", "npm error code ERESOLVE"],
      ["error", "exit code: 1"],
      ["warning", "har-validator@5.1.5"],
      ["error", "@shop/checkout@7.3.1"],
      ["tail", "Dockerfile.api:41"],
    ],
  );
}
{
  // mysql result with box characters
  const ids = range(64).map((n) => 88120 + n * 7);
  const line = (id, who, total, state, day) => `| ${String(id).padStart(6)} | ${pad(who, 14)} | ${String(total).padStart(9)} | ${pad(state, 10)} | ${day} |`;
  const rows = ids.map((id) => line(id, pick(PEOPLE), (between(1000, 9900) / 100).toFixed(2), "shipped", `2026-01-${two(between(1, 28))}`));
  rows[41] = line(ids[41], "Chidi Obi", "734512.08", "chargeback", "2026-01-19");
  const rule = "+--------+----------------+-----------+------------+------------+";
  family(
    "sql box table",
    false,
    "text/plain",
    `mysql> SELECT order_id, customer, total, state, placed_on FROM orders;\n${rule}\n| order_id | customer     | total     | state      | placed_on  |\n${rule}\n${rows.join("\n")}\n${rule}\n64 rows in set (0.08 sec)\n`,
    [
      ["anomaly", "734512.08"],
      ["anomaly", "chargeback"],
      ["aggregate", "64 rows in set"],
      ["schema", "placed_on"],
      ["head", String(ids[0])],
      ["lookup", String(ids[23])],
    ],
  );
}
{
  // java trace inside a log
  const info = (n) =>
    `2026-02-11 09:${two(Math.floor(n / 60))}:${two(n % 60)},${between(100, 999)} INFO  [http-nio-8080-exec-${between(1, 9)}] c.s.${word()}.Controller - handled ${word()} in ${between(3, 90)} ms`;
  const frames = (count) =>
    range(count)
      .map(() => `\tat org.springframework.${word()}.${word()}.invoke(${word()}.java:${between(20, 900)})`)
      .join("\n");
  family(
    "java trace in log",
    false,
    "text/plain",
    `${range(45).map(info).join("\n")}\n2026-02-11 09:00:46,001 ERROR [http-nio-8080-exec-4] c.s.order.OrderController - request failed\njava.lang.RuntimeException: could not place order 55102\n\tat com.shop.order.OrderService.place(OrderService.java:118)\n${frames(22)}\nCaused by: org.hibernate.exception.JDBCConnectionException: unable to acquire connection\n\tat com.shop.db.Pool.acquire(Pool.java:73)\n${frames(9)}\n\t... 31 more\nCaused by: java.net.SocketTimeoutException: connect timed out after 3000 ms to db-replica-2:5432\n\tat java.base/java.net.Socket.connect(Socket.java:633)\n${frames(5)}\n\t... 40 more\n${range(
      20,
    )
      .map((n) => info(n + 47))
      .join("\n")}`,
    [
      ["error", "connect timed out after 3000 ms"],
      ["error", "could not place order 55102"],
      ["error", "OrderService.java:118"],
      ["error", "db-replica-2:5432"],
      ["lookup", "Pool.java:73"],
    ],
  );
}
{
  // terraform plan
  const tags = () => `          + tags = {\n              + "${word()}" = "${word()}"\n              + "${word()}" = "${word()}"\n            }`;
  const blocks = range(14).map(
    (n) =>
      `  # aws_instance.${word()}_${n} will be created\n  + resource "aws_instance" "${word()}_${n}" {\n      + ami           = "ami-${hex(17)}"\n      + arn           = (known after apply)\n      + instance_type = "t3.${pick(["small", "medium"])}"\n${tags()}\n    }\n`,
  );
  blocks.splice(
    9,
    0,
    `  # aws_db_instance.primary must be replaced\n-/+ resource "aws_db_instance" "primary" {\n      ~ engine_version = "14.7" -> "16.1" # forces replacement\n      ~ endpoint       = "db.internal:5432" -> (known after apply)\n    }\n`,
  );
  blocks.splice(
    12,
    0,
    `  # aws_s3_bucket.audit_logs will be destroyed\n  - resource "aws_s3_bucket" "audit_logs" {\n      - bucket = "audit-logs-${hex(6)}" -> null\n    }\n`,
  );
  family(
    "terraform plan",
    false,
    "text/plain",
    `Terraform used the selected providers to generate the following execution plan.\n\nTerraform will perform the following actions:\n\n${blocks.join("\n")}\nPlan: 15 to add, 0 to change, 2 to destroy.\n\nWarning: Argument is deprecated\n\n  with aws_s3_bucket.audit_logs,\n  on storage.tf line 44, in resource "aws_s3_bucket" "audit_logs":\n\nUse the aws_s3_bucket_acl resource instead\n`,
    [
      ["aggregate", "Plan: 15 to add, 0 to change, 2 to destroy."],
      ["anomaly", "aws_db_instance.primary must be replaced"],
      ["anomaly", "aws_s3_bucket.audit_logs will be destroyed"],
      ["warning", "Argument is deprecated"],
    ],
  );
}
{
  // openapi
  const paths = {};
  const op = (id, deprecated) => ({
    operationId: id,
    summary: sentence(9),
    ...(deprecated ? { deprecated: true } : {}),
    parameters: [
      { name: "limit", in: "query", schema: { type: "integer", maximum: 100 } },
      { name: word(), in: "header", schema: { type: "string" } },
    ],
    responses: { 200: { description: sentence(6) }, default: { description: "problem" } },
  });
  for (const n of range(16)) paths[`/v2/${WORDS[n]}s`] = { get: op(`list${WORDS[n]}`, n === 11), ...(n % 2 ? { post: op(`create${WORDS[n]}`) } : {}) };
  const last = `/v2/${WORDS[15]}s`;
  family(
    "openapi document",
    false,
    "application/json",
    JSON.stringify(
      {
        openapi: "3.1.0",
        info: { title: "Freight Desk API", version: "2.14.3", contact: { email: "api@freight.example" } },
        servers: [{ url: "https://api.freight.example" }],
        paths,
        components: { securitySchemes: { deskKey: { type: "apiKey", in: "header", name: "X-Desk-Key" } } },
      },
      null,
      2,
    ),
    [
      ["head", "Freight Desk API"],
      ["id", "2.14.3"],
      ["schema", last],
      ["warning", '"deprecated": true'],
      ["lookup", "X-Desk-Key"],
    ],
  );
}
{
  // e-mail thread
  const quoted = (depth, count) =>
    range(count)
      .map(() => `${"> ".repeat(depth)}${sentence(14)}`)
      .join("\n");
  family(
    "e-mail thread",
    false,
    "message/rfc822",
    `From: Greta Holm <greta@nordfrakt.example>\nTo: ops@nordfrakt.example\nSubject: Re: Re: Cut-over of the Malmo terminal\nDate: Tue, 10 Feb 2026 16:02:11 +0100\nMessage-ID: <a81f-77@nordfrakt.example>\n\nHi all,\n\n${range(
      4,
    )
      .map(() => sentence(22))
      .join("\n")}\n\nDecision: we move the cut-over to Saturday 21 February at 05:30.\n${range(3)
      .map(() => sentence(20))
      .join(
        "\n",
      )}\n\nAction for Emre: confirm the crane slot with the port by Friday noon.\n\nBest,\nGreta\n\nOn Mon, 9 Feb 2026 at 11:47, Emre Kaya wrote:\n${quoted(1, 12)}\n> The penalty clause is 18,400 EUR per started day.\n${quoted(1, 6)}\n>\n> On Fri, 6 Feb 2026 at 09:15, Dana Katz wrote:\n${quoted(2, 16)}\n`,
    [
      ["head", "Cut-over of the Malmo terminal"],
      ["anomaly", "Saturday 21 February at 05:30"],
      ["anomaly", "Action for Emre: confirm the crane slot"],
      ["lookup", "18,400 EUR"],
      ["id", "Greta Holm"],
    ],
  );
}
{
  // graphql
  const cursor = () => Buffer.from(hex(8)).toString("base64");
  const edges = range(30).map((n) => ({
    cursor: cursor(),
    node: { sku: `SKU-${4100 + n}`, title: words(4), stock: between(10, 60), price: { amount: `${between(5, 90)}.00`, currency: "SEK" } },
  }));
  edges[18].node.price = null;
  edges[25].node.stock = 918273;
  family(
    "graphql with errors",
    false,
    "application/json",
    JSON.stringify({
      data: { warehouse: { id: "wh_7Kd2", products: { totalCount: 1288, edges, pageInfo: { hasNextPage: true, endCursor: "b2Zmc2V0OjMw" } } } },
      errors: [
        {
          message: "pricing service timed out after 1500ms",
          path: ["warehouse", "products", "edges", 18, "node", "price"],
          extensions: { code: "UPSTREAM_TIMEOUT", requestId: "rq-66f0" },
        },
      ],
    }),
    [
      ["error", "pricing service timed out after 1500ms"],
      ["error", "UPSTREAM_TIMEOUT"],
      ["aggregate", "1288"],
      ["paging", "b2Zmc2V0OjMw"],
      ["anomaly", "918273"],
      ["id", "wh_7Kd2"],
      ["lookup", "SKU-4113"],
    ],
  );
}
{
  // semicolon csv with decimal commas
  const rows = range(90).map(
    (n) => `R-${3300 + n};${pick(["Lund", "Oslo", "Turku"])};${between(2, 9)},${two(next(99))};${pick(["ok", "ok", "ok"])};"${words(3)}; ${word()}"`,
  );
  rows[52] = 'R-3352;Oslo;-40,00;sensor_fault;"probe; replaced"';
  family("semicolon csv", false, "text/csv", `reading;site;celsius;state;remark\n${rows.join("\n")}\n`, [
    ["schema", "reading;site;celsius;state;remark"],
    ["error", "sensor_fault"],
    ["anomaly", "-40,00"],
    ["aggregate", "90"],
    ["tail", "R-3389"],
  ]);
}
{
  // rss feed
  const items = range(18).map(
    (n) =>
      `    <item>\n      <title>${sentence(5)}</title>\n      <link>https://status.example/i/${9000 + n}</link>\n      <pubDate>Mon, ${two(n + 1)} Feb 2026 08:00:00 GMT</pubDate>\n      <description><![CDATA[<p>${sentence(24)}</p>]]></description>\n      <category>${pick(["info", "info", "maintenance"])}</category>\n    </item>`,
  );
  items[4] = `    <item>\n      <title>Outage: payment webhooks delayed in ap-south</title>\n      <link>https://status.example/i/9004</link>\n      <pubDate>Thu, 05 Feb 2026 08:00:00 GMT</pubDate>\n      <description><![CDATA[<p>Delivery failed for 12 percent of events.</p>]]></description>\n      <category>outage</category>\n    </item>`;
  family(
    "rss feed",
    false,
    "application/rss+xml",
    `<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0">\n  <channel>\n    <title>Brightpay Status</title>\n    <link>https://status.example/</link>\n    <ttl>15</ttl>\n${items.join("\n")}\n  </channel>\n</rss>\n`,
    [
      ["head", "Brightpay Status"],
      ["error", "payment webhooks delayed in ap-south"],
      ["error", "Delivery failed for 12 percent"],
      ["aggregate", "18"],
    ],
  );
}
{
  // yaml
  const service = (name) =>
    `  ${name}:\n    image: registry.example/${name}:${between(1, 9)}.${next(20)}.${next(9)}\n    replicas: ${between(2, 4)}\n    environment:\n      LOG_LEVEL: info\n      REGION: eu-north\n      CACHE_TTL: ${between(30, 90)}\n    healthcheck:\n      path: /healthz\n      interval: 10s\n`;
  const list = WORDS.slice(0, 20);
  const blocks = list.map(service);
  blocks[13] = blocks[13].replace(/replicas: \d/, "replicas: 0").replace("LOG_LEVEL: info", "LOG_LEVEL: trace");
  family(
    "yaml compose",
    false,
    "application/yaml",
    `# rendered by deployctl 5.2\nversion: "3.9"\nname: shop-staging\nservices:\n${blocks.join("")}volumes:\n  ledger-data:\n    driver: local\nx-deploy:\n  max_surge: 3\n  timeout: 900s\n`,
    [
      ["id", "shop-staging"],
      ["anomaly", "replicas: 0"],
      ["anomaly", "LOG_LEVEL: trace"],
      ["schema", "services"],
      ["tail", "timeout: 900s"],
    ],
  );
}
{
  // tsv metrics
  const rows = range(80).map((n) => `host-${two(n)}\t${pick(["a", "b", "c"])}\t${between(20, 60)}\t${between(200, 400)}\tup`);
  rows[66] = "host-66\tb\t57\t48211\tdraining";
  family("tsv hosts", false, "text/tab-separated-values", `host\track\tcpu_pct\tp99_us\tstate\n${rows.join("\n")}\n`, [
    ["schema", "p99_us"],
    ["anomaly", "48211"],
    ["anomaly", "draining"],
    ["aggregate", "80"],
    ["tail", "host-79"],
    ["lookup", "host-31"],
  ]);
}

// Held out from here on.
{
  // rustc
  const warn = (n) =>
    `warning: unused variable: \`${word()}\`\n  --> crates/core/src/${word()}.rs:${between(10, 400)}:${between(5, 40)}\n   |\n${n + 12} |     let ${word()} = compute(${n});\n   |         ^^^^^^ help: if this is intentional, prefix it with an underscore\n   |\n   = note: \`#[warn(unused_variables)]\` on by default\n`;
  family(
    "cargo build errors",
    true,
    "text/plain",
    `${range(40)
      .map(() => `   Compiling ${word()} v0.${next(9)}.${next(30)}`)
      .join(
        "\n",
      )}\n${range(8).map(warn).join("\n")}\nerror[E0502]: cannot borrow \`ledger\` as mutable because it is also borrowed as immutable\n   --> crates/core/src/settle.rs:214:17\n    |\n211 |         let first = &ledger.entries[0];\n    |                      -------------- immutable borrow occurs here\n214 |         ledger.push(entry);\n    |         ^^^^^^^^^^^^^^^^^^ mutable borrow occurs here\n\nerror[E0308]: mismatched types\n  --> crates/core/src/rates.rs:88:9\n   |\n88 |         rate * 100\n   |         ^^^^^^^^^^ expected \`Decimal\`, found \`i64\`\n\nSome errors have detailed explanations: E0308, E0502.\nerror: could not compile \`shop-core\` (lib) due to 2 previous errors; 8 warnings emitted\n`,
    [
      ["error", "error[E0502]"],
      ["error", "settle.rs:214:17"],
      ["error", "E0308"],
      ["error", "rates.rs:88:9"],
      ["aggregate", "2 previous errors; 8 warnings"],
    ],
  );
}
{
  // coverage
  const line = (name, a, b, c, d, missed = "") =>
    `${pad(name, 24)}|${String(a).padStart(9)} |${String(b).padStart(9)} |${String(c).padStart(9)} |${String(d).padStart(9)} | ${missed}`;
  const rows = range(44).map((n) => line(` ${WORDS[n % 24]}${n}.ts`, between(90, 100), between(85, 100), 100, between(90, 100), String(between(10, 90))));
  rows[29] = line(" refunds.ts", 11.4, 0, 8.33, 11.4, "14-208");
  const rule = "------------------------|----------|----------|----------|----------|-------------------";
  family(
    "coverage table",
    true,
    "text/plain",
    `> vitest run --coverage\n\n Test Files  31 passed (31)\n      Tests  402 passed | 3 skipped (405)\n\n${rule}\n${line("File", "% Stmts", "% Branch", "% Funcs", "% Lines", "Uncovered Line #s")}\n${rule}\n${line("All files", 92.7, 88.1, 96.02, 92.65)}\n${rows.join("\n")}\n${rule}\nERROR: Coverage for branches (88.1%) does not meet global threshold (90%)\n`,
    [
      ["error", "(88.1%) does not meet global threshold"],
      ["anomaly", "refunds.ts"],
      ["aggregate", "92.65"],
      ["aggregate", "402 passed"],
      ["schema", "% Branch"],
    ],
  );
}
{
  // npm audit json
  const entry = (name, severity) => [
    name,
    {
      name,
      severity,
      isDirect: false,
      via: [word()],
      effects: [word()],
      range: `<${next(5)}.${next(9)}.0`,
      nodes: [`node_modules/${name}`],
      fixAvailable: true,
    },
  ];
  const list = range(26).map((n) => entry(`${WORDS[n % 24]}-${n}`, "moderate"));
  list.splice(17, 0, [
    "xmlpipe",
    {
      name: "xmlpipe",
      severity: "critical",
      isDirect: true,
      via: [
        {
          source: 1098844,
          title: "Remote code execution in xmlpipe",
          url: "https://advisories.example/GHSA-4q7m-x2",
          severity: "critical",
          cvss: { score: 9.8 },
        },
      ],
      effects: [],
      range: ">=2.0.0 <2.7.1",
      nodes: ["node_modules/xmlpipe"],
      fixAvailable: false,
    },
  ]);
  family(
    "npm audit",
    true,
    "application/json",
    JSON.stringify(
      {
        auditReportVersion: 2,
        vulnerabilities: Object.fromEntries(list),
        metadata: { vulnerabilities: { info: 0, low: 0, moderate: 26, high: 0, critical: 1, total: 27 }, dependencies: { prod: 311, dev: 902, total: 1213 } },
      },
      null,
      2,
    ),
    [
      ["error", "Remote code execution in xmlpipe"],
      ["anomaly", "critical"],
      ["aggregate", '"total": 27'],
      ["error", ">=2.0.0 <2.7.1"],
      ["lookup", "GHSA-4q7m-x2"],
    ],
  );
}
{
  // git log
  const commit = (who, subject, stat) =>
    `commit ${hex(40)}\nAuthor: ${who} <${who.split(" ")[0].toLowerCase()}@shop.example>\nDate:   ${pick(["Mon", "Tue", "Wed"])} Feb ${between(1, 20)} 1${next(10)}:${two(next(60))}:00 2026 +0100\n\n    ${subject}\n\n ${stat}\n`;
  const small = () =>
    commit(
      pick(PEOPLE),
      `${pick(["fix", "feat", "docs", "chore"])}: ${words(5)}`,
      `src/${word()}.ts | ${between(2, 30)} +++--\n 1 file changed, ${between(2, 20)} insertions(+), ${between(1, 9)} deletions(-)`,
    );
  const list = range(24).map(small);
  list[0] = commit("Hugo Sanz", "release: 4.9.0", "package.json | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)");
  list[15] = commit(
    "Dana Katz",
    'Revert "feat: batch settlement" after failed payouts',
    "src/settle.ts | 1843 ----------\n 31 files changed, 12 insertions(+), 4127 deletions(-)",
  );
  family("git log", true, "text/plain", list.join("\n"), [
    ["head", "release: 4.9.0"],
    ["anomaly", "after failed payouts"],
    ["anomaly", "4127 deletions(-)"],
    ["aggregate", "24"],
    ["lookup", list[9].slice(7, 17)],
  ]);
}
{
  // http exchange
  const body = {
    type: "https://errors.example/quota",
    title: "Quota exceeded",
    status: 429,
    detail: "Project kestrel-81 used 50000 of 50000 requests",
    instance: "/v1/batches/b_771",
    usage: range(40).map((n) => ({ hour: `2026-02-18T${two(n % 24)}:00Z`, requests: between(900, 1300) })),
  };
  family(
    "http exchange",
    true,
    "message/http",
    `HTTP/1.1 429 Too Many Requests\r\nDate: Wed, 18 Feb 2026 12:00:07 GMT\r\nContent-Type: application/problem+json\r\nRetry-After: 1740\r\nX-Request-Id: 6f1c-09ab\r\nX-RateLimit-Remaining: 0\r\nStrict-Transport-Security: max-age=31536000\r\nServer: edge/3.1\r\n\r\n${JSON.stringify(body)}`,
    [
      ["error", "429 Too Many Requests"],
      ["warning", "Retry-After: 1740"],
      ["error", "Project kestrel-81 used 50000 of 50000 requests"],
      ["id", "6f1c-09ab"],
      ["error", "Quota exceeded"],
    ],
  );
}
{
  // calendar
  const event = (n, summary, extra = "") =>
    `BEGIN:VEVENT\r\nUID:${hex(12)}@cal.example\r\nDTSTART:202602${two((n % 27) + 1)}T0${between(8, 9)}0000Z\r\nDTEND:202602${two((n % 27) + 1)}T100000Z\r\nSUMMARY:${summary}\r\nLOCATION:Room ${between(1, 9)}\r\nSTATUS:CONFIRMED\r\n${extra}END:VEVENT\r\n`;
  const list = range(26).map((n) => event(n, sentence(3)));
  list[14] = event(14, "Board review with auditors").replace("CONFIRMED", "CANCELLED");
  list[20] = event(20, "Warehouse fire drill", "RRULE:FREQ=MONTHLY;COUNT=6\r\n");
  family(
    "calendar",
    true,
    "text/calendar",
    `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Tidepool//Desk 3//EN\r\nX-WR-CALNAME:Operations Gothenburg\r\n${list.join("")}END:VCALENDAR\r\n`,
    [
      ["head", "Operations Gothenburg"],
      ["anomaly", "CANCELLED"],
      ["anomaly", "Board review with auditors"],
      ["aggregate", "26"],
      ["anomaly", "RRULE:FREQ=MONTHLY;COUNT=6"],
    ],
  );
}
{
  // arrays of arrays
  const values = range(120).map((n) => [1771400000 + n * 60, String(between(180, 240)), between(1, 9)]);
  values[77][1] = "96311";
  family(
    "metric matrix",
    true,
    "application/json",
    JSON.stringify({
      status: "success",
      data: { resultType: "matrix", result: [{ metric: { __name__: "http_latency_ms", job: "gateway", zone: "north-2" }, values }] },
      warnings: ["query touched 3 stale series"],
    }),
    [
      ["id", "http_latency_ms"],
      ["anomaly", "96311"],
      ["aggregate", "120"],
      ["warning", "query touched 3 stale series"],
      ["tail", "1771407140"],
      ["lookup", "1771403180"],
    ],
  );
}
{
  // search hits with nested paging
  const hits = range(24).map((n) => ({
    _index: "tickets-2026",
    _id: `tk${5200 + n}`,
    _score: Number((14 - n * 0.31).toFixed(2)),
    _source: { subject: sentence(6), state: "closed", assignee: pick(PEOPLE), hours: between(1, 9), tags: [word(), word()] },
    highlight: { body: [`<em>${word()}</em> ${words(9)}`] },
  }));
  hits[17]._source.state = "escalated";
  hits[17]._source.hours = 412;
  family(
    "search hits",
    true,
    "application/vnd.search+json; charset=utf-8",
    JSON.stringify({
      took: 31,
      timed_out: false,
      _shards: {
        total: 12,
        successful: 11,
        skipped: 0,
        failed: 1,
        failures: [
          { shard: 7, node: "n-Qe81", reason: { type: "circuit_breaking_exception", reason: "data for <http_request> would be larger than limit of 1.9gb" } },
        ],
      },
      hits: { total: { value: 8841, relation: "eq" }, max_score: 14, hits },
      page: { next: { token: "pt_Zm9v9921", size: 24 } },
    }),
    [
      ["error", "circuit_breaking_exception"],
      ["aggregate", "8841"],
      ["paging", "pt_Zm9v9921"],
      ["anomaly", "escalated"],
      ["anomaly", "412"],
      ["head", "tk5200"],
      ["lookup", "tk5209"],
    ],
  );
}
{
  // go panic
  const routine = (n) =>
    `goroutine ${n} [${pick(["IO wait", "select", "chan receive"])}, ${between(2, 40)} minutes]:\nnet/http.(*${word()}).serve(0xc000${hex(6)})\n\t/usr/local/go/src/net/http/server.go:${between(1000, 3000)} +0x${hex(3)}\ncreated by net/http.(*Server).Serve\n\t/usr/local/go/src/net/http/server.go:${between(1000, 3000)} +0x${hex(3)}\n`;
  family(
    "go panic",
    true,
    "text/plain",
    `${range(30)
      .map(
        (n) =>
          `time="2026-02-20T04:1${Math.floor(n / 6)}:${two((n * 7) % 60)}Z" level=info msg="synced ${word()}" batch=${between(100, 999)} took=${between(2, 80)}ms`,
      )
      .join(
        "\n",
      )}\npanic: runtime error: index out of range [7] with length 7\n\ngoroutine 412 [running]:\nshop.example/fx/rates.(*Table).Lookup(0xc00041e000, 0x7)\n\t/build/fx/rates/table.go:156 +0x1b2\nshop.example/fx/api.quote(0xc0000b8000)\n\t/build/fx/api/quote.go:61 +0x8c\n\n${range(
      24,
    )
      .map((n) => routine(n + 18))
      .join("\n")}\nexit status 2\n`,
    [
      ["error", "index out of range [7] with length 7"],
      ["error", "table.go:156"],
      ["error", "goroutine 412 [running]"],
      ["tail", "exit status 2"],
      ["lookup", "quote.go:61"],
    ],
  );
}
{
  // notebook
  const cell = (n) => ({
    cell_type: "code",
    execution_count: n,
    metadata: { collapsed: false },
    source: [`df_${word()} = load("${word()}.parquet")\n`, `df_${word()}.describe()`],
    outputs: [{ output_type: "execute_result", data: { "text/plain": [`${words(8)}\n`, `${between(100, 999)} rows`] } }],
  });
  const cells = range(18).map(cell);
  cells.unshift({ cell_type: "markdown", metadata: {}, source: ["# Churn model, run of 17 February\n", sentence(12)] });
  cells.push({
    cell_type: "code",
    execution_count: 19,
    metadata: {},
    source: ["model.fit(X, y)"],
    outputs: [
      {
        output_type: "error",
        ename: "ValueError",
        evalue: "Input X contains NaN in column tenure_days",
        traceback: range(12).map(() => `\u001b[0;32m~/env/lib/${word()}.py\u001b[0m in ${word()}(self)`),
      },
    ],
  });
  cells.push({ cell_type: "markdown", metadata: {}, source: ["Validation AUC before the failure: 0.8147"] });
  family(
    "notebook",
    true,
    "application/x-ipynb+json",
    JSON.stringify(
      { cells, metadata: { kernelspec: { name: "python3", display_name: "Python 3.12" }, language_info: { name: "python" } }, nbformat: 4, nbformat_minor: 5 },
      null,
      1,
    ),
    [
      ["error", "ValueError"],
      ["error", "Input X contains NaN in column tenure_days"],
      ["head", "Churn model, run of 17 February"],
      ["aggregate", "21"],
      ["lookup", "0.8147"],
    ],
  );
}
{
  // prose around a block of JSON
  const rows = range(22).map((n) => ({ lane: `L${n}`, trucks: between(2, 9), delay_min: between(0, 12) }));
  rows[13].delay_min = 1430;
  family(
    "text with embedded json",
    true,
    "text/plain",
    `The dispatcher tool finished its run for the northern yard.\n\n${range(5)
      .map(() => sentence(26))
      .join(" ")}\n\nResult:\n\n\`\`\`json\n${JSON.stringify({ run: "yard-2026-02-19", lanes: rows, total_trucks: 131 }, null, 2)}\n\`\`\`\n\n${range(5)
      .map(() => sentence(26))
      .join(" ")}\n\nNote: lane L13 exceeded the delay limit and was closed at 14:20.\nNext run starts at 18:00.\n`,
    [
      ["head", "The dispatcher tool finished its run for the northern yard."],
      ["anomaly", "1430"],
      ["warning", "lane L13 exceeded the delay limit"],
      ["tail", "Next run starts at 18:00"],
      ["aggregate", '"total_trucks": 131'],
      ["lookup", "yard-2026-02-19"],
    ],
  );
}
{
  // one long line
  const pairs = range(330).map((n) => `${word()}_${n}=${between(1, 99)}`);
  pairs.splice(0, 0, "build=20260220.4", "node=edge-17");
  pairs.splice(211, 0, 'tls_handshake_error="certificate expired 2026-02-19"');
  pairs.push("checksum=9e107d9d37");
  family("long single line", true, "text/plain", pairs.join(" "), [
    ["head", "build=20260220.4"],
    ["error", "certificate expired 2026-02-19"],
    ["tail", "checksum=9e107d9d37"],
    ["lookup", pairs[120]],
  ]);
}
{
  // ndjson of a pipeline
  const event = (n, kind, extra) =>
    JSON.stringify({
      seq: n,
      at: `2026-02-21T06:${two(Math.floor(n / 60))}:${two(n % 60)}Z`,
      kind,
      job: pick(["lint", "unit", "bundle"]),
      worker: `w${between(1, 4)}`,
      ...extra,
    });
  const list = range(95).map((n) => event(n, "step", { ok: true, ms: between(100, 900) }));
  list[58] = event(58, "step", { ok: false, ms: 88412, stderr: "disk quota exceeded on /cache/w3" });
  list[94] = event(94, "summary", { passed: 93, failed: 1, artifacts: "ci-run-20417.tgz" });
  family("ndjson pipeline", true, "application/jsonl", `${list.join("\n")}\n`, [
    ["error", "disk quota exceeded on /cache/w3"],
    ["anomaly", "88412"],
    ["aggregate", "95"],
    ["tail", "ci-run-20417.tgz"],
    ["schema", "worker"],
  ]);
}

writeFileSync(new URL("./digest-families.json", import.meta.url), `${JSON.stringify({ families }, null, 1)}\n`);
const count = (held) => families.filter((one) => one.held === held).reduce((sum, one) => sum + one.needles.length, 0);
console.log(`${families.length} families, ${count(false)} needles to tune with, ${count(true)} held out`);
