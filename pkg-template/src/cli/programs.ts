// Starting the user's programs by their names.
import { spawn, spawnSync } from "node:child_process";
import process from "node:process";

/** Node's ways to start a program. */
export interface Programs {
  readonly spawn: typeof spawn;
  readonly sync: typeof spawnSync;
}

/** Bundled with the program: it has `cross-spawn`. */
const BUNDLED: string = "./mcp-sdk.js";

/** How programs are started here. What npm installs on Windows is a script (`.cmd`), which Node does not start; cross-spawn does. */
export async function programsHere(): Promise<Programs> {
  if (process.platform !== "win32") return { spawn, sync: spawnSync };
  return ((await import(BUNDLED)) as { readonly programs: Programs }).programs;
}
