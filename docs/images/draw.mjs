// Draws the pictures of the explanation pages: `node docs/images/draw.mjs` writes them. Same input, same bytes; a test compares.
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const WIDTH = 720;
/** Width of a character in units of the size of its type: enough for the fonts that `system-ui` may be. */
const CHARACTER = 0.56;

/** The colours of the page, with a ground of their own: a picture does not know how the page around it is coloured. */
const STYLE = `
.ground{fill:#f8f7f4}.box{fill:#fff;stroke:#82858c}.store{fill:#efede8;stroke:#82858c}.key{fill:#e2eef8;stroke:#0a5a9c}
.out{fill:#fbe8df;stroke:#b23c0e}.text{fill:#1a1c20}.quiet{fill:#595d66}.blue{fill:#0a5a9c}.red{fill:#b23c0e}
.line{fill:none;stroke:#595d66}.head{fill:#595d66}.dash{fill:none;stroke:#b23c0e;stroke-dasharray:5 4}
.repeated{fill:#cfd3d8;stroke:#8b929b}.new{fill:#0a5a9c}.hatch{stroke:#b23c0e;fill:none}.rewritten{fill:#fbe8df;stroke:#b23c0e}
@media (prefers-color-scheme:dark){
.ground{fill:#11151b}.box{fill:#181d25;stroke:#7d8795}.store{fill:#212833;stroke:#7d8795}.key{fill:#17324a;stroke:#7fc1f5}
.out{fill:#43281b;stroke:#ff9d70}.text{fill:#ece9e3}.quiet{fill:#a9b0bb}.blue{fill:#7fc1f5}.red{fill:#ff9d70}
.line{stroke:#a9b0bb}.head{fill:#a9b0bb}.dash{stroke:#ff9d70}
.repeated{fill:#3c4653;stroke:#7d8795}.new{fill:#7fc1f5}.hatch{stroke:#ff9d70}.rewritten{fill:#43281b;stroke:#ff9d70}}`.replaceAll(
  "\n",
  "",
);

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

function text(x, y, said, { look = "text", size = 13, anchor = "start", bold = false } = {}) {
  const weight = bold ? ' font-weight="600"' : "";
  return `<text class="${look}" x="${x}" y="${y}" font-size="${size}" text-anchor="${anchor}"${weight}>${escaped(said)}</text>`;
}

/** A box with a title and lines below it; a line that would not fit is an error of whoever wrote it. */
function box(x, y, width, title, lines = [], look = "box") {
  const height = 30 + lines.length * 16 + (lines.length > 0 ? 4 : 0);
  for (const [said, size] of [[title, 13], ...lines.map((line) => [line, 12])]) {
    if (said.length * size * CHARACTER > width - 10) throw new Error(`"${said}" is wider than its box of ${width}`);
  }
  const parts = [
    `<rect class="${look}" x="${x}" y="${y}" width="${width}" height="${height}" rx="5"/>`,
    text(x + 10, y + 20, title, { bold: true }),
  ];
  lines.forEach((line, at) => parts.push(text(x + 10, y + 38 + at * 16, line, { look: "quiet", size: 12 })));
  return parts.join("\n");
}

/** A line through points, with a head at its end. */
function arrow(...points) {
  const [[fromX, fromY], [x, y]] = points.slice(-2);
  const path = points.map(([px, py], at) => `${at === 0 ? "M" : "L"}${px} ${py}`).join("");
  const [dx, dy] = [Math.sign(x - fromX), Math.sign(y - fromY)];
  const head = dx !== 0 ? `M${x} ${y}l${-7 * dx} -4v8z` : `M${x} ${y}l-4 ${-7 * dy}h8z`;
  return `<path class="line" d="${path}"/><path class="head" d="${head}"/>`;
}

function picture(height, title, parts) {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escaped(title)}" font-family="system-ui, sans-serif">`,
    `<title>${escaped(title)}</title>`,
    `<style>${STYLE}</style>`,
    `<rect class="ground" width="${WIDTH}" height="${height}" rx="8"/>`,
    ...parts,
    "</svg>",
    "",
  ].join("\n");
}

/** The log on the left, what each stage takes away, the prompt on the right. */
function prompt() {
  const stages = [
    ["candidates", "kinds that the phase needs"],
    ["closure", "calls with their results"],
    ["sensitivity", "withhold what no model may read"],
    ["firewall", "show a part of large results"],
    ["dedup", "say the same once"],
    ["score", "how near to the question"],
    ["select", "blocks, until the budget is full"],
    ["render", "in the order of the log"],
  ];
  const parts = [
    text(20, 30, "Log", { bold: true }),
    text(20, 48, "everything, in order", { look: "quiet", size: 12 }),
  ];
  const log = [24, 14, 60, 18, 38, 14, 16, 44, 14, 22];
  const kept = new Set([0, 2, 4, 7, 8, 9]);
  const cut = new Map([
    [2, 22],
    [7, 18],
  ]);
  let y = 60;
  log.forEach((height, at) => {
    parts.push(
      `<rect class="${kept.has(at) ? "key" : "out"}" x="20" y="${y}" width="100" height="${height - 4}" rx="2"/>`,
    );
    y += height;
  });
  const right = 560;
  stages.forEach(([name, does], at) => {
    parts.push(
      box(170, 20 + at * 40, 340, "", [], at === 6 ? "key" : "box"),
      text(180, 40 + at * 40, name, { bold: true }),
      text(278, 40 + at * 40, does, { look: "quiet", size: 12 }),
    );
    if (at > 0) parts.push(arrow([340, 10 + at * 40], [340, 19 + at * 40]));
  });
  parts.push(arrow([126, 180], [166, 180]), arrow([514, 180], [right - 4, 180]));
  parts.push(
    text(right, 30, "Prompt", { bold: true }),
    text(right, 48, "within its budget", { look: "quiet", size: 12 }),
  );
  parts.push(`<rect class="dash" x="${right}" y="60" width="140" height="150" rx="2"/>`);
  y = 66;
  for (const at of [...kept].sort((one, other) => one - other)) {
    const height = cut.get(at) ?? log[at];
    parts.push(`<rect class="key" x="${right + 6}" y="${y}" width="128" height="${height - 4}" rx="2"/>`);
    y += height;
  }
  parts.push(
    text(right, 228, "dashed: the budget", { look: "quiet", size: 12 }),
    text(right, 262, "The record says for", { size: 12 }),
    text(right, 278, "each item what became", { size: 12 }),
    text(right, 294, "of it, where, and why.", { size: 12 }),
  );
  parts.push(
    text(20, 348, "Blue is in the prompt, red was left out; two large results became smaller.", {
      look: "quiet",
      size: 12,
    }),
  );
  return picture(
    362,
    "How a prompt comes about: items of the log pass eight stages, and what is left fits the budget",
    parts,
  );
}

/** A large result, its two ways, and the way back. */
function firewall() {
  return picture(
    300,
    "The firewall: a large result is stored whole, the prompt has a digest with a handle, and the model reads on by it",
    [
      box(20, 40, 130, "A tool returns", ["8,000 tokens of", "log, table, JSON"]),
      arrow([154, 65], [246, 65]),
      text(162, 56, "every byte", { look: "quiet", size: 12 }),
      box(250, 24, 200, "Stored whole", ["by a handle:", "artifact:result:c1"], "store"),
      arrow([100, 112], [100, 184], [246, 184]),
      text(110, 146, "recognise the shape,", { look: "quiet", size: 12 }),
      text(110, 162, "mask credentials", { look: "quiet", size: 12 }),
      box(
        250,
        150,
        200,
        "Digest",
        ["errors, totals, outliers,", "what the question asks for,", "and the handle"],
        "key",
      ),
      arrow([454, 184], [546, 184]),
      text(462, 175, "160 tokens", { look: "quiet", size: 12 }),
      box(550, 150, 150, "Prompt", ["instructions", "conversation", "digest"]),
      arrow([640, 146], [640, 62], [454, 62]),
      text(472, 50, "drilldown, recall", { size: 12 }),
      text(472, 82, "lines, rows, a path,", { look: "quiet", size: 12 }),
      text(472, 98, "a search", { look: "quiet", size: 12 }),
      text(
        20,
        270,
        "What the model needs and does not see, it reads by the handle, and only that part enters the next prompt.",
        { look: "quiet", size: 12 },
      ),
    ],
  );
}

/** Calls of a loop as columns, as the page shows them, by the rule of the running prompt on steps of fixed size. */
function costs() {
  const [budget, leaves, left, bottom, scale] = [8000, 2700, 60, 250, 0.022];
  const steps = [
    900, 700, 1300, 500, 900, 1100, 800, 600, 1000, 900, 700, 1200, 900, 600, 1100, 800, 900, 700, 1000, 600, 900, 800,
  ];
  const parts = [text(20, 26, "Tokens of each call", { bold: true })];
  let before = 0;
  steps.forEach((fresh, at) => {
    const isCut = before + fresh > budget;
    const kept = isCut ? leaves : before;
    const x = left + at * 29;
    const column = (look, from, tokens) =>
      `<rect class="${look}" x="${x}" y="${(bottom - (from + tokens) * scale).toFixed(1)}" width="22" height="${(tokens * scale).toFixed(1)}"/>`;
    if (kept > 0) parts.push(column(isCut ? "rewritten" : "repeated", 0, kept));
    if (isCut) {
      const top = bottom - kept * scale;
      for (let y = top + 8; y < bottom; y += 8) parts.push(`<path class="hatch" d="M${x} ${y.toFixed(1)}l22 -8"/>`);
      parts.push(text(x + 11, bottom + 16, "cut", { look: "red", size: 12, anchor: "middle" }));
    }
    parts.push(column("new", kept, fresh));
    before = kept + fresh;
  });
  const line = bottom - budget * scale;
  parts.push(
    `<path class="dash" d="M${left - 6} ${line}H700"/>`,
    text(left - 10, line + 4, "budget", { look: "red", size: 12, anchor: "end" }),
  );
  parts.push(
    `<path class="line" d="M${left - 6} ${bottom}H700"/>`,
    text(left - 10, bottom + 4, "0", { look: "quiet", size: 12, anchor: "end" }),
  );
  const legend = [
    ["repeated", "repeated: a tenth of the price"],
    ["new", "new: full price"],
    ["rewritten", "rewritten by a cut: full price, once"],
  ];
  let x = left;
  for (const [look, said] of legend) {
    parts.push(
      `<rect class="${look}" x="${x}" y="284" width="14" height="14"/>`,
      text(x + 20, 296, said, { size: 12 }),
    );
    x += 50 + said.length * 12 * CHARACTER;
  }
  return picture(
    316,
    "The running prompt: each call repeats the one before and adds what is new, until the budget is full and it is cut",
    parts,
  );
}

/** From words to a short list, or none. */
function router() {
  const bars = [
    ["cancel_order", 190, true],
    ["get_order", 96, true],
    ["send_mail", 22, false],
    ["997 others", 6, false],
  ];
  const parts = [
    box(20, 24, 200, "Question", ["“refund order 12446”", "completed from the log", "where it is only “yes”"]),
    arrow([224, 62], [256, 62]),
    box(260, 24, 200, "Words", ["refund, order", "stems and related words;", "the number counts nothing"]),
    arrow([464, 62], [496, 62]),
    box(
      500,
      24,
      200,
      "Inverted index",
      ["names, descriptions, tags,", "arguments and examples", "of all tools"],
      "store",
    ),
    arrow([600, 110], [600, 136], [225, 136], [225, 164]),
    text(20, 156, "Score of each tool", { bold: true }),
  ];
  bars.forEach(([name, width, isIn], at) => {
    const y = 168 + at * 28;
    parts.push(
      text(120, y + 15, name, { size: 12, anchor: "end", look: isIn ? "text" : "quiet" }),
      `<rect class="${isIn ? "new" : "repeated"}" x="130" y="${y}" width="${width}" height="20"/>`,
    );
  });
  parts.push(
    arrow([380, 215], [456, 215]),
    text(366, 206, "confidence", { size: 12 }),
    text(366, 234, "0.2 or more?", { size: 12, look: "quiet" }),
  );
  parts.push(
    box(460, 164, 240, "yes: cards, then schemas", ["the few that fit the budget"], "key"),
    box(460, 232, 240, "no: nothing fits", ["the reason, and what is nearest"], "out"),
  );
  return picture(
    300,
    "The router: words of a question find tools in an inverted index; a short list or none comes out",
    parts,
  );
}

/** Memory, journal, and back. */
function sessions() {
  const rows = [
    ["1", "options, two items"],
    ["2", "a call, its result, the prompt sent"],
    ["3", "an answer, what the call cost"],
  ];
  const parts = [
    box(20, 40, 160, "Manager in memory", ["log, artifacts, facts,", "the running prompt,", "what calls have cost"]),
    arrow([184, 66], [276, 66]),
    text(194, 57, "what is new", { look: "quiet", size: 12 }),
    text(280, 30, "Journal: a line or a few each turn", { bold: true }),
  ];
  rows.forEach(([number, said], at) => {
    const y = 44 + at * 36;
    parts.push(
      `<rect class="store" x="280" y="${y}" width="280" height="28" rx="3"/>`,
      text(290, y + 19, number, { bold: true }),
      text(310, y + 19, said, { size: 12 }),
    );
    if (at > 0) parts.push(text(570, y + 19, `with the sum of ${at}`, { look: "quiet", size: 12 }));
  });
  parts.push(
    arrow([100, 126], [100, 190], [276, 190]),
    text(108, 182, "large bytes", { look: "quiet", size: 12 }),
    box(280, 168, 280, "Blobs", ["by their SHA-256: equal bytes once"], "store"),
  );
  parts.push(
    arrow([420, 222], [420, 248], [204, 248]),
    text(430, 252, "read again, in any runtime", { size: 12 }),
    box(20, 228, 180, "The same manager", ["the next prompt goes on,", "byte for byte"], "key"),
  );
  return picture(
    310,
    "Sessions: each turn appends what changed to a journal; read again, it makes the same manager",
    parts,
  );
}

/** One call of a tool through the gateway. */
function gateway() {
  const middle = [
    "names that are there once",
    "policy: allow, deny, ask",
    "arguments against the schema",
    "result: stored, masked, cut",
    "counts and log",
  ];
  return picture(
    290,
    "The gateway: clients see one server; calls are checked, results stored and shortened, and each server is called as itself",
    [
      box(20, 60, 150, "Your client", ["sees one server", "with few tools"]),
      arrow([174, 80], [246, 80]),
      text(180, 72, "tools/call", { size: 12 }),
      arrow([246, 106], [174, 106]),
      text(180, 124, "digest,", { look: "quiet", size: 12 }),
      text(180, 140, "handle", { look: "quiet", size: 12 }),
      box(250, 34, 220, "Gateway", middle, "key"),
      arrow([474, 60], [526, 60]),
      arrow([474, 114], [526, 114]),
      arrow([474, 140], [500, 140], [500, 168], [526, 168]),
      box(530, 40, 170, "files", ["a program"]),
      box(530, 98, 170, "docs", ["Streamable HTTP"]),
      box(530, 156, 170, "search", ["logged in by OAuth"]),
      arrow([360, 152], [360, 192]),
      box(250, 196, 220, "Store", ["results by handle, sessions,", "pins of tools, logins"], "store"),
      text(
        20,
        276,
        "What a server says of its tools is pinned: a tool that changes is in quarantine until you accept it.",
        { look: "quiet", size: 12 },
      ),
    ],
  );
}

/** The pictures by file name. */
export const pictures = () => ({
  "prompt.svg": prompt(),
  "firewall.svg": firewall(),
  "running-prompt.svg": costs(),
  "router.svg": router(),
  "sessions.svg": sessions(),
  "gateway.svg": gateway(),
});

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, svg] of Object.entries(pictures())) await writeFile(new URL(name, import.meta.url), svg);
}
