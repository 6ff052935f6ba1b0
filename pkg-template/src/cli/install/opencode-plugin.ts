// The plugin for OpenCode: a file that runs the hook after each tool, and adds the server of MCP.

/** Writes the plugin. `hook` and `mcp` are command lines. */
export function openCodePlugin(hook: readonly string[], mcp: readonly string[]): string {
  return `// Written by \`contextweaver install opencode\`; \`contextweaver uninstall opencode\` removes it.
import { spawn } from "node:child_process";

const HOOK = ${JSON.stringify(hook)};
const MCP = ${JSON.stringify(mcp)};
const TIMEOUT_MS = 10_000;

/** Runs the hook; whatever goes wrong, the answer is nothing. */
function ask(event) {
  return new Promise((done) => {
    const [program, ...args] = HOOK;
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "ignore"] });
    const timer = setTimeout(() => child.kill(), TIMEOUT_MS);
    const parts = [];
    child.stdout.on("data", (part) => parts.push(part));
    child.on("error", () => done(""));
    child.on("close", () => (clearTimeout(timer), done(Buffer.concat(parts).toString("utf8"))));
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(event));
  });
}

export const ContextWeaver = async ({ directory }) => ({
  config: async (config) => {
    config.mcp = { contextweaver: { type: "local", command: MCP, enabled: true }, ...config.mcp };
  },
  "tool.execute.after": async (input, output) => {
    // A tool of a server has a list of blocks, as the server sent it.
    const name = typeof output?.output === "string" ? "output" : "content";
    if (output?.[name] === undefined) return;
    try {
      const answer = await ask({ tool_name: input.tool, tool_input: input.args, tool_response: output[name], tool_file: output.metadata?.outputPath, cwd: directory });
      if (answer !== "") output[name] = JSON.parse(answer).output;
    } catch {
      // The result stays as it is.
    }
  },
});
`;
}
