// Where the build's sources and tools are.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const template = join(dirname(fileURLToPath(import.meta.url)), "..");
export const root = join(template, "..");

/** The development tools: `cargo xtask` installs them. */
export const npmModules = join(root, "tests", "package", "node_modules");
export const esbuild = createRequire(join(npmModules, "index.js"))("esbuild");

/** Runs a program to its end, with the output of this one. */
export function run(program, args, cwd = root) {
  const { status, error } = spawnSync(program, args, { cwd, stdio: ["ignore", "inherit", "inherit"] });
  if (status === 0) return;
  console.error(error?.message ?? `${program} ${args.join(" ")} failed`);
  process.exit(1);
}
