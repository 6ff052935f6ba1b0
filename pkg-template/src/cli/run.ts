// `contextweaver run -- <agent>`: an agent behind a proxy of its own.
import { constants } from "node:os";
import process from "node:process";
import { behindOf, startOf } from "./agents.js";
import { UsageError } from "./options.js";
import type { CommandLine } from "./options.js";
import { safe } from "./print.js";
import { programsHere } from "./programs.js";
import type { Programs } from "./programs.js";
import { started, summary } from "./proxy.js";

/** A shell adds this to the number of the signal that ended a program. */
const SIGNALLED = 128;
/** The exit code of bad input. */
const NOT_STARTED = 2;

/** Runs the agent to its end; the process ends with its exit code. */
export async function runCommand({ files, values }: CommandLine): Promise<string> {
  const [program, ...args] = files;
  if (program === undefined) throw new UsageError("say which agent: contextweaver run -- codex");
  const behind = behindOf(program, process.env);
  const { proxy, address } = await started(values, { host: "127.0.0.1", port: 0, token: false }, behind);
  const programs = await programsHere();
  const anthropic = (values["anthropic"] as string | undefined) ?? behind.upstreams?.anthropic;
  const start = startOf(program, args[0], address, process.env, { programs, anthropic });
  const end = await ended(programs, program, [...start.args, ...args], { ...process.env, ...start.env });
  const said =
    typeof end === "number"
      ? `contextweaver run: ${summary(proxy.stats())}`
      : `contextweaver: cannot start ${program}: ${end}`;
  process.stderr.write(`${safe(said)}\n`);
  // The proxy listens as long as the process is there.
  process.exit(typeof end === "number" ? end : NOT_STARTED);
}

/** Starts a program, hands signals on to it, and waits for its end: its exit code, or why it was not started. */
function ended(
  { spawn }: Programs,
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<number | string> {
  const child = spawn(program, args, { stdio: "inherit", env });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      // A terminal tells all of its programs of Ctrl+C.
      if (signal !== "SIGINT" || process.stdin.isTTY !== true) child.kill(signal);
    });
  }
  return new Promise((done) => {
    child.on("error", ({ code }) => done(code === "ENOENT" ? "there is no such program" : (code ?? "unknown")));
    child.on("close", (code, signal) => done(code ?? SIGNALLED + (constants.signals[signal ?? ""] ?? 0)));
  });
}
