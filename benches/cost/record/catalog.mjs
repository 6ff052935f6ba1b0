// Eight questions of one user in one conversation, each answered by other tools: what a catalog of 500 tools is measured with.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { ROOT } from "./agent.mjs";
import { RULES } from "./shop.mjs";

const path = (file) => `${ROOT}/${file}`;
const CHANGED = RULES["kb/returns.md"].replace("30 days", "45 days").replace("at most 25.00", "at most 30.00");

export const questions = {
  material(home) {
    const docs = Object.fromEntries(
      readdirSync(join(home, "docs"))
        .filter((file) => file.endsWith(".md"))
        .map((file) => [`docs/${file}`, readFileSync(join(home, "docs", file), "utf8")]),
    );
    return {
      files: { ...RULES, ...docs },
      commits: [
        ["State of the desk in autumn", {}],
        ["Longer period for returns", { "kb/returns.md": CHANGED }],
      ],
    };
  },
  async run(agent) {
    const files = (thought, tool, args) => agent.step(thought, "filesystem", tool, args);
    const git = (thought, tool, args) => agent.step(thought, "git", tool, { path: ROOT, ...args });
    const graph = (thought, tool, args) => agent.step(thought, "memory", tool, args);

    agent.user("What is in this project? Every folder with its files, please, and how large the documents are.");
    await files("The whole tree of the project first.", "directory_tree", { path: ROOT, excludePatterns: [".git"] });
    await files("And the documents with their sizes.", "list_directory_with_sizes", { path: path("docs"), sortBy: "size" });
    agent.say("Rules of the desk are in kb, the documents of the product in docs.");

    agent.user("Read me what the desk has to do about parcels, payments and returns, all three at once.");
    await files("Three files in one call.", "read_multiple_files", { paths: ["parcels", "payments", "returns"].map((name) => path(`kb/${name}.md`)) });
    agent.say("Late parcels get a trace, lost ones are sent again; two captured payments are a double charge.");

    agent.user("Which of our documents have to do with the gateway? Look for files of that name and tell me what the longer ones say.");
    await files("A search for files by their name.", "search_files", { path: ROOT, pattern: "**/gateway*.md" });
    for (const name of ["gateway", "gateway-conformance", "gateway-cloudflare"])
      await files("I read what was found.", "read_text_file", { path: path(`docs/${name}.md`) });
    for (const name of ["telemetry", "security", "sidecar", "cli", "mcp"])
      await files(`It refers to the page about ${name}; I read that, too.`, "read_text_file", { path: path(`docs/${name}.md`) });
    agent.say("The gateway stands between clients and servers; its conformance and its deployment have pages of their own.");

    agent.user("A customer asks how to begin with each of our adapters. Read those pages, and say where they differ.");
    for (const name of [
      "quickstart",
      "ai-sdk",
      "openai",
      "anthropic",
      "langchain",
      "mastra",
      "openai-agents",
      "messages",
      "budgets",
      "decisions",
      "compat",
      "tool-contexts",
      "embeddings",
      "phases",
      "reports",
    ]) {
      await files(`The page about ${name}.`, "read_text_file", { path: path(`docs/${name}.md`) });
    }
    agent.say("They differ in where the loop is: yours, or that of the framework.");

    agent.user("Who committed what lately? And what exactly did the newest change, line by line?");
    await git("The history of the repository.", "git_log", { maxCount: 10 });
    await git("The difference between both.", "git_diff", { target: "HEAD~1" });
    agent.say("The period went from 30 to 45 days, and a voucher from 25.00 to 30.00 at most.");

    agent.user("Remember for the next shift: depot Graz-3 is closed until 20 November, and its parcels go through Malmo-2.");
    await graph("Two entities with what is known of them.", "create_entities", {
      entities: [
        { name: "Graz-3", entityType: "depot", observations: ["closed until 20 November"] },
        { name: "Malmo-2", entityType: "depot", observations: ["takes the parcels of Graz-3"] },
      ],
    });
    await graph("And how they are related.", "create_relations", { relations: [{ from: "Malmo-2", to: "Graz-3", relationType: "stands in for" }] });
    agent.say("Both depots are noted.");

    agent.user("The voucher should be at most 20.00. Correct the rule, and then compare it with what sessions, storage and the service say about limits.");
    await files("The line is replaced in place.", "edit_file", {
      path: path("kb/returns.md"),
      edits: [{ oldText: "at most 30.00", newText: "at most 20.00" }],
      dryRun: false,
    });
    for (const name of ["sessions", "storage", "service", "tools", "firewall", "errors"])
      await files(`What does the page about ${name} say about limits?`, "read_text_file", { path: path(`docs/${name}.md`) });
    await files("The reference of all exports has limits, too.", "read_text_file", { path: path("docs/api.md"), head: 700 });
    agent.say("The rule says 20.00 now. None of the pages names a voucher.");

    agent.user("Last one: what do we have in the notes about Graz, and is my correction committed already?");
    await graph("A search in the graph.", "search_nodes", { query: "Graz" });
    await git("Whether something is not committed.", "git_status", {});
    agent.say("Graz-3 is closed until 20 November. The correction is not committed yet.");
  },
};
