// Agents from npm play a session against a scripted provider, with what `contextweaver install` has given them: the large result of a
// tool reaches the model in its entry form, and the model reads on in it.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { has, packageDir, run, temporaryFolder } from "./harness.mjs";
import { listening } from "./proxy-listening.mjs";

const PROGRAM = join(packageDir, "bin/contextweaver.js");
const FOLDER = process.env.CONTEXTWEAVER_TEST_AGENTS;
const MODULES = FOLDER && join(FOLDER, "node_modules");
// Less than what agents cut off themselves before a hook sees it.
const LARGE = Array.from({ length: 900 }, (_, at) => `export function handler${at}() { return ${at * 7}; }`).join("\n");
const TASK = "Find the handler with the number 777";
const READ = "cat src/big.ts";
const selector = { type: "search", text: "handler777(" };

const codexProvider = (address) =>
  ['name="x"', `base_url="${address}/v1"`, 'wire_api="responses"', 'env_key="OPENAI_API_KEY"'].flatMap((setting) => ["-c", `model_providers.x.${setting}`]);

/** How each agent is started, and how its model calls a shell and reads on. */
const AGENTS = {
  "claude-code": {
    package: "@anthropic-ai/claude-code",
    file: "@anthropic-ai/claude-code-linux-x64/claude",
    args: () => ["-p", TASK, "--allowedTools", "Bash,mcp__contextweaver"],
    env: ({ address }) => ({ ANTHROPIC_BASE_URL: address, ANTHROPIC_API_KEY: "none", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" }),
    shell: { name: "Bash", input: { command: READ, description: "reads it" } },
    read: (handle) => ({ name: "mcp__contextweaver__drilldown", input: { handle, selector } }),
  },
  opencode: {
    package: "opencode-ai",
    file: "opencode-linux-x64/bin/opencode",
    args: () => ["run", "-m", "openai/gpt-5", TASK],
    env: ({ address }) => ({
      OPENAI_API_KEY: "none",
      OPENCODE_CONFIG_CONTENT: JSON.stringify({ provider: { openai: { options: { baseURL: `${address}/v1` } } } }),
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
    }),
    shell: { name: "bash", input: { command: READ, description: "reads it" } },
    read: (handle) => ({ name: "contextweaver_drilldown", input: { handle, selector } }),
  },
  "gemini-cli": {
    package: "@google/gemini-cli",
    file: ".bin/gemini",
    settings: [".gemini/settings.json", { security: { auth: { selectedType: "gemini-api-key" } } }],
    args: () => ["-y", "-m", "gemini-2.5-pro", "-p", TASK],
    env: ({ address }) => ({ GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: address, GEMINI_CLI_TRUST_WORKSPACE: "true" }),
    shell: { name: "run_shell_command", input: { command: READ } },
    read: (handle) => ({ name: "mcp_contextweaver_drilldown", input: { handle, selector } }),
  },
  codex: {
    package: "@openai/codex",
    file: ".bin/codex",
    args: ({ address }) => [
      "exec",
      "--skip-git-repo-check",
      "--dangerously-bypass-approvals-and-sandbox",
      "--dangerously-bypass-hook-trust",
      ...codexProvider(address),
      "-c",
      `model_provider="x"`,
      TASK,
    ],
    env: () => ({ OPENAI_API_KEY: "none" }),
    shell: { name: "exec", custom: `text((await tools.exec_command({ cmd: "${READ}" })).output);` },
    read: (handle) => ({ name: "exec", custom: `text(JSON.stringify(await tools.mcp__contextweaver__drilldown(${JSON.stringify({ handle, selector })})));` }),
  },
};

for (const [name, agent] of Object.entries(AGENTS)) {
  test(`install ${name}: its hook shortens a result, and its model reads on`, { timeout: 180_000 }, async (t) => {
    const program = MODULES && join(MODULES, agent.file);
    const missing = `CONTEXTWEAVER_TEST_AGENTS names no folder with ${agent.package} (npm install --ignore-scripts ${agent.package})`;
    if (!has(t, program && existsSync(program), { missing, optional: true })) return;
    const home = await temporaryFolder("agent");
    const cwd = join(home, "project");
    await mkdir(join(cwd, "src"), { recursive: true });
    await writeFile(join(cwd, "src/big.ts"), `${LARGE}\n`);
    if (agent.settings) {
      await mkdir(join(home, agent.settings[0], ".."), { recursive: true });
      await writeFile(join(home, agent.settings[0]), JSON.stringify(agent.settings[1]));
    }
    let step = 0;
    let read = "";
    const provider = await listening(t, (body) => {
      const said = JSON.stringify(body);
      const tools = JSON.stringify(body.tools ?? body.input?.[0]?.tools ?? []);
      // A title, or another thing beside the conversation.
      if (!said.includes(TASK) || tools === "[]") return { text: "A title" };
      step += 1;
      if (step === 1) return { text: "I look.", calls: [{ id: "call_1", ...agent.shell }] };
      if (step === 2) return { text: "I read on.", calls: [{ id: "call_2", ...agent.read(/artifact:result:[a-z2-7]{10}-\d+/.exec(said)?.[0] ?? "none") }] };
      read = said;
      return { text: "All done." };
    });
    const env = { HOME: home, PWD: cwd, CODEX_HOME: join(home, ".codex"), ...agent.env(provider) };
    await run(process.execPath, [PROGRAM, "install", name, "--yes"], { cwd, env });
    const { stdout } = await run(program, agent.args(provider), { cwd, env, input: "" });
    assert.match(stdout, /All done\./);
    assert.equal(step, 3);
    // In part, with the way to the rest; and the part that was asked for.
    const lines = new Set(read.match(/handler\d+\(\)/g));
    assert.ok(lines.size > 20 && lines.size < 300, `${lines.size} lines of the result were sent`);
    assert.match(read, /handler777\(\) \{ return 5439; \}/);
    assert.match(read, /of \d{4,} tokens; mcp_*contextweaver_*drilldown|of \d{4,} tokens; contextweaver_drilldown/);
  });
}
