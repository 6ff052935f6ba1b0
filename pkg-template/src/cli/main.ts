// The command line program. An agent waits for its hook: that loads nothing of the other commands.
import module from "node:module";

/** Runs the program; returns the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  // From Node 22.8 on it keeps what it has compiled.
  module.enableCompileCache?.();
  if (args.length === 0 && !(await import("node:worker_threads")).isMainThread) {
    // A thread that an audit has started.
    (await import("../audit/replay-thread.js")).replayThread();
    return 0;
  }
  const isHook = args[0] === "hook" && !args.includes("--help") && !args.includes("-h");
  return isHook ? (await import("./hook.js")).hookCommand(args) : (await import("./commands.js")).main(args);
}
