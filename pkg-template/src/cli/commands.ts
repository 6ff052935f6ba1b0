// The commands of the program, but for those that an agent waits for: see `main.ts`.
import process from "node:process";
import { ContextWeaverError, version } from "../index.js";
import { audit } from "./audit.js";
import { build } from "./build.js";
import { convert } from "./convert.js";
import { decisions } from "./decisions.js";
import { demo } from "./demo.js";
import { diff } from "./diff.js";
import { drilldown } from "./drilldown.js";
import { gatewayCommand } from "./gateway.js";
import { USAGE, helpOf } from "./help.js";
import { init } from "./init.js";
import { inspect } from "./inspect.js";
import { installCommand, uninstallCommand } from "./install.js";
import { lint } from "./lint.js";
import { mcpCommand } from "./mcp.js";
import { UsageError, parse } from "./options.js";
import type { CommandLine } from "./options.js";
import { safe } from "./print.js";
import type { Printed } from "./print.js";
import { proxyCommand } from "./proxy.js";
import { recall } from "./recall.js";
import { route } from "./route.js";
import { runCommand } from "./run.js";
import { serve } from "./serve.js";

/** Runs a command; returns the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  // A reader that has seen enough, such as `head`, closes the pipe; that is no failure of ours.
  process.stdout.on("error", (error) => process.exit(error.code === "EPIPE" ? 0 : 1));
  try {
    const done = await run(parse(args));
    const { text, code } = typeof done === "string" ? { text: done, code: 0 } : done;
    process.stdout.write(text);
    return code;
  } catch (error) {
    return report(error);
  }
}

async function run(line: CommandLine): Promise<string | Printed> {
  switch (line.command) {
    case "help":
      return line.files[0] === undefined ? USAGE : helpOf(line.files[0]);
    case "version":
      return `${version()}\n`;
    case "audit":
      return audit(line);
    case "drilldown":
      return drilldown(line);
    case "recall":
      return recall(line);
    case "route":
      return route(line);
    case "lint":
      return lint(line);
    case "diff":
      return diff(line);
    case "convert":
      return convert(line);
    case "decisions":
      return decisions(line);
    case "serve":
      return serve(line);
    case "inspect":
      return inspect(line);
    case "gateway":
      return gatewayCommand(line);
    case "proxy":
      return proxyCommand(line);
    case "run":
      return runCommand(line);
    case "install":
      return installCommand(line);
    case "uninstall":
      return uninstallCommand(line);
    case "mcp":
      return mcpCommand(line);
    case "demo":
      return demo(line);
    case "init":
      return init(line);
    default:
      return build(line);
  }
}

/** Values that nothing can be done with. */
const REFUSED: readonly string[] = [
  "INVALID_INPUT",
  "UNKNOWN_FIELD",
  "MISSING_FIELD",
  "OUT_OF_RANGE",
  "NOT_FOUND",
  "ARTIFACT_NOT_FOUND",
  "DECODE_FAILED",
  "UNSUPPORTED",
];

/** Bad usage and bad input are 2, as is a value the engine refuses; what cannot be done is 1. */
function report(error: unknown): number {
  if (error instanceof UsageError) {
    process.stderr.write(`contextweaver: ${safe(error.message)}\n`);
    if (error.about === "usage") process.stderr.write("Try 'contextweaver --help'.\n");
    return 2;
  }
  if (!ContextWeaverError.is(error)) throw error;
  const at = error.path ? ` at ${error.path}` : "";
  const hint = error.hint ? `\n  ${error.hint}` : "";
  process.stderr.write(`contextweaver: ${safe(`${error.code}${at}: ${error.message}${hint}\n  ${error.docs}`)}\n`);
  return REFUSED.includes(error.code) ? 2 : 1;
}
