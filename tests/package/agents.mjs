// Agents from npm as their users start them, in the folder that CONTEXTWEAVER_TEST_AGENTS names: how each is asked, resumed and found
// its provider, how its model calls a shell and helpers, and what it has recorded.
import { existsSync } from "node:fs";
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { outOfEnvelope } from "./code-assist.mjs";
import { has, run, temporaryFolder } from "./harness.mjs";
import { PROGRAM } from "./proxy-program.mjs";

const FOLDER = process.env.CONTEXTWEAVER_TEST_AGENTS;
const MODULES = FOLDER && join(FOLDER, "node_modules");
/** What every agent is given for a key. */
export const KEY = "none-to-be-told-of";
const NOT_CHECKED = "--dangerously-bypass-approvals-and-sandbox";

const parsed = async (path) =>
  (await readFile(path, "utf8"))
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

/** The files below a folder that end so, by name. */
async function filesOf(folder, end) {
  const found = existsSync(folder) ? await readdir(folder, { recursive: true }) : [];
  return found
    .filter((name) => name.endsWith(end))
    .sort()
    .map((name) => join(folder, name));
}

/**
 * `format` is of PROVIDER_RULES. `flag`: the option of `contextweaver run` that names the provider; `direct`: arguments and environment that
 * lead to it without. `room`: tokens that its instructions and tools take. `shell` and `helper` are calls of its own tools, `mcp` one of a
 * server's. `recorded`: its conversations, each a list of records of what was said.
 */
export const AGENTS = {
  "claude-code": {
    package: "@anthropic-ai/claude-code",
    room: 12_500,
    file: "@anthropic-ai/claude-code-linux-x64/claude",
    format: "anthropic",
    flag: "--anthropic",
    ask: (task) => ["-p", task, "--allowedTools", "Bash,mcp__contextweaver"],
    resume: (task) => ["-c", "-p", task, "--allowedTools", "Bash,mcp__contextweaver"],
    env: { ANTHROPIC_API_KEY: KEY, ENABLE_TOOL_SEARCH: "true", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" },
    direct: (address) => ({ env: { ANTHROPIC_BASE_URL: address } }),
    shell: (command) => ({ name: "Bash", input: { command, description: "reads it" } }),
    helper: (prompt) => ({ name: "Agent", input: { description: "a part of it", prompt, subagent_type: "general-purpose" } }),
    mcp: (name, input) => ({ name: `mcp__contextweaver__${name}`, input }),
    async recorded({ home }) {
      const files = await filesOf(join(home, ".claude/projects"), ".jsonl");
      const lists = await Promise.all(files.map(parsed));
      return lists.map((list) => list.flatMap(({ type, message }) => (type === "user" || type === "assistant" ? [[type, message.content]] : [])));
    },
  },
  opencode: {
    package: "opencode-ai",
    room: 7_500,
    file: "opencode-linux-x64/bin/opencode",
    format: "openai-responses",
    flag: "--openai",
    ask: (task) => ["run", "-m", "openai/gpt-5", task],
    resume: (task) => ["run", "-c", "-m", "openai/gpt-5", task],
    env: { OPENAI_API_KEY: KEY, OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" },
    direct: (address) => ({ env: { OPENCODE_CONFIG_CONTENT: JSON.stringify({ provider: { openai: { options: { baseURL: `${address}/v1` } } } }) } }),
    shell: (command) => ({ name: "bash", input: { command, description: "reads it" } }),
    helper: (prompt) => ({ name: "task", input: { description: "a part of it", prompt, subagent_type: "general" } }),
    mcp: (name, input) => ({ name: `contextweaver_${name}`, input }),
    async recorded({ program, home, cwd, env }) {
      const { stdout } = await run(program, ["session", "list", "--format", "json"], { cwd, env });
      const lists = [];
      for (const { id } of JSON.parse(stdout)) {
        // To a file: it ends before a pipe has taken all.
        const file = join(home, `${id}.json`);
        await run("sh", ["-c", '"$0" export "$1" > "$2"', program, id, file], { cwd, env });
        lists.push(JSON.parse(await readFile(file, "utf8")).messages);
      }
      return lists.map((list) => list.flatMap(({ info, parts }) => parts.map((part) => [info.role, part])));
    },
  },
  "gemini-cli": {
    package: "@google/gemini-cli",
    room: 13_000,
    file: ".bin/gemini",
    format: "gemini",
    flag: "--gemini",
    settings: [".gemini/settings.json", { security: { auth: { selectedType: "gemini-api-key" } } }],
    ask: (task) => ["-y", "-m", "gemini-2.5-pro", "-p", task],
    // It writes its conversation anew, each result twice.
    isResumedAnew: true,
    resume: (task) => ["-y", "-m", "gemini-2.5-pro", "-r", "latest", "-p", task],
    env: { GEMINI_API_KEY: KEY, GEMINI_CLI_TRUST_WORKSPACE: "true" },
    direct: (address) => ({ env: { GOOGLE_GEMINI_BASE_URL: address } }),
    shell: (command) => ({ name: "run_shell_command", input: { command } }),
    helper: (prompt) => ({ name: "invoke_agent", input: { agent_name: "generalist", prompt } }),
    mcp: (name, input) => ({ name: `mcp_contextweaver_${name}`, input }),
    async recorded({ home }) {
      const files = await filesOf(join(home, ".gemini/tmp"), ".jsonl");
      const lists = await Promise.all(files.map(parsed));
      // A message is written again when its calls have results, and all of them when a session is resumed.
      return lists.map((list) => {
        const messages = new Map(list.filter(({ id, type }) => id && type).map(({ id, ...message }) => [id, message]));
        return [...messages.values()].map(({ type, content, toolCalls = [] }) => [
          type,
          content,
          toolCalls.map(({ name, args, result }) => [name, args, result]),
        ]);
      });
    },
  },
  codex: {
    package: "@openai/codex",
    room: 16_500,
    file: ".bin/codex",
    format: "openai-responses",
    flag: "--openai",
    ask: (task) => ["exec", "--skip-git-repo-check", NOT_CHECKED, "--dangerously-bypass-hook-trust", task],
    resume: (task) => ["exec", "--skip-git-repo-check", NOT_CHECKED, "resume", "--last", task],
    env: { OPENAI_API_KEY: KEY },
    direct: (address) => ({
      args: ['name="x"', `base_url="${address}/v1"`, 'wire_api="responses"', 'env_key="OPENAI_API_KEY"']
        .map((setting) => `model_providers.x.${setting}`)
        .concat('model_provider="x"')
        .flatMap((setting) => ["-c", setting]),
    }),
    shell: (command) => ({ name: "exec", custom: `text((await tools.exec_command({ cmd: ${JSON.stringify(command)}, yield_time_ms: 20000 })).output);` }),
    helper: (message, name) => ({ name: "spawn_agent", namespace: "collaboration", input: { message, task_name: name, fork_turns: "none" } }),
    wait: { name: "wait_agent", namespace: "collaboration", input: { timeout_ms: 20_000 } },
    mcp: (name, input) => ({ name: "exec", custom: `text(JSON.stringify(await tools.mcp__contextweaver__${name}(${JSON.stringify(input)})));` }),
    async recorded({ home }) {
      const files = await filesOf(join(home, ".codex/sessions"), ".jsonl");
      const lists = await Promise.all(files.map(parsed));
      // How often it waits for its helpers is a matter of time.
      const isWait = ({ call_id: id = "" }) => id.startsWith("wait_");
      return lists.map((list) => list.flatMap(({ type, payload }) => (type === "response_item" && !isWait(payload) ? [payload] : [])));
    },
  },
};

/** Agents that `run` knows and for which there are no hooks. Without `helper` one has none. */
export const ALONE = {
  pi: {
    package: "@earendil-works/pi-coding-agent",
    room: 2_000,
    file: ".bin/pi",
    format: "anthropic",
    flag: "--anthropic",
    ask: (task) => ["-p", "--model", "anthropic/claude-sonnet-4-5", task],
    resume: (task) => ["-p", "-c", "--model", "anthropic/claude-sonnet-4-5", task],
    env: { ANTHROPIC_API_KEY: KEY, PI_OFFLINE: "1", PI_TELEMETRY: "0" },
    // The way to the proxy leads to a provider as well.
    direct: (address) => ({ args: ["--extension", join(PROGRAM, "../pi.js")], env: { CONTEXTWEAVER_PROXY: address } }),
    shell: (command) => ({ name: "bash", input: { command } }),
    async recorded({ home }) {
      const files = await filesOf(join(home, ".pi/agent/sessions"), ".jsonl");
      const lists = await Promise.all(files.map(parsed));
      return lists.map((list) => list.flatMap(({ type, message }) => (type === "message" ? [message] : [])));
    },
  },
};

const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
/** A token as a login of ChatGPT has it, in whose name nothing is signed. */
const TOKEN = [{ alg: "none" }, { exp: 4_102_444_800, "https://api.openai.com/auth": { chatgpt_plan_type: "plus", chatgpt_account_id: "acct_1" } }, KEY]
  .map(part)
  .join(".");

const isOfPlan = ({ headers }) => headers["chatgpt-account-id"] === "acct_1" && headers.authorization === `Bearer ${TOKEN}`;

/** The same agents with a login in place of a key. `files` are those that it has left, `serves` what is asked beside the model. */
export const LOGINS = {
  "codex, logged in": {
    ...AGENTS.codex,
    flag: "--chatgpt",
    // The login pays, though there is a key.
    env: { OPENAI_API_KEY: "another-purse" },
    files: {
      ".codex/auth.json": {
        auth_mode: "chatgpt",
        OPENAI_API_KEY: null,
        tokens: { id_token: TOKEN, access_token: TOKEN, refresh_token: KEY, account_id: "acct_1" },
        last_refresh: new Date().toISOString(),
      },
    },
    direct: (address) => ({
      args: ['name="x"', `base_url="${address}/v1"`, 'wire_api="responses"', "requires_openai_auth=true"]
        .map((setting) => `model_providers.x.${setting}`)
        .concat('model_provider="x"')
        .flatMap((setting) => ["-c", setting]),
    }),
    base: (address) => `${address}/v1`,
    isPaid: isOfPlan,
  },
  "pi, logged in": {
    ...ALONE.pi,
    format: "openai-responses",
    flag: "--chatgpt",
    ask: (task) => ["-p", "--model", "openai-codex/gpt-5.4", task],
    resume: (task) => ["-p", "-c", "--model", "openai-codex/gpt-5.4", task],
    env: { PI_OFFLINE: "1", PI_TELEMETRY: "0" },
    files: { ".pi/agent/auth.json": { "openai-codex": { type: "oauth", access: TOKEN, refresh: KEY, expires: 4_102_444_800_000, accountId: "acct_1" } } },
    base: (address) => `${address}/codex`,
    around: (answer) => (request) => answer(new Request(request.url.replace("/codex/", "/v1/"), request)),
    isPaid: isOfPlan,
  },
  "gemini-cli, logged in": {
    ...AGENTS["gemini-cli"],
    flag: "--code-assist",
    settings: [".gemini/settings.json", { security: { auth: { selectedType: "oauth-personal" } } }],
    env: { GOOGLE_GENAI_USE_GCA: "true", GOOGLE_CLOUD_ACCESS_TOKEN: KEY, GEMINI_CLI_TRUST_WORKSPACE: "true" },
    direct: (address) => ({ env: { CODE_ASSIST_ENDPOINT: address } }),
    serves: ({ url }) => {
      const [, method] = /^\/v1internal:(?!\w*[gG]enerateContent)(\w+)/.exec(url) ?? [];
      if (method === undefined) return undefined;
      return Response.json(method === "loadCodeAssist" ? { currentTier: { id: "free-tier" }, cloudaicompanionProject: "a-project" } : {});
    },
    around: outOfEnvelope,
    isPaid: ({ headers }) => headers.authorization === `Bearer ${KEY}`,
  },
};

/**
 * An agent with a home and a project of its own: `program`, `cwd`, `env`, `home`, and the arguments that lead to the provider at `address`
 * without us. Undefined, and the test skipped, where the agent is not installed.
 */
export async function installed(t, name) {
  const agent = AGENTS[name] ?? ALONE[name] ?? LOGINS[name];
  const program = MODULES && join(MODULES, agent.file);
  const missing = `CONTEXTWEAVER_TEST_AGENTS names no folder with ${agent.package} (npm install --ignore-scripts ${agent.package})`;
  if (!has(t, program && existsSync(program), { missing, optional: true })) return undefined;
  const home = await temporaryFolder("agent");
  const cwd = join(home, "project");
  await mkdir(join(home, ".codex"), { recursive: true });
  await mkdir(cwd, { recursive: true });
  for (const [path, value] of [...Object.entries(agent.files ?? {}), ...(agent.settings ? [agent.settings] : [])]) {
    await mkdir(join(home, path, ".."), { recursive: true });
    await writeFile(join(home, path), JSON.stringify(value));
  }
  return { ...agent, program, home, cwd, env: { HOME: home, PWD: cwd, CODEX_HOME: join(home, ".codex"), ...agent.env } };
}
