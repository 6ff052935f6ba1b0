// Installs an npm package that a measurement needs beside ours, into a work folder and nowhere else.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Installs `name@version` unless it is there; returns why not, or nothing. */
export function install(folder, spec) {
  const name = spec.slice(0, spec.lastIndexOf("@"));
  if (existsSync(join(folder, "node_modules", name))) return undefined;
  mkdirSync(folder, { recursive: true });
  // Without a manifest of its own npm would install into a folder above.
  if (!existsSync(join(folder, "package.json"))) writeFileSync(join(folder, "package.json"), '{"private":true}\n');
  const command = ["install", "--save-exact", "--ignore-scripts", "--no-audit", "--no-fund", spec];
  const { status, stderr, error } = spawnSync("npm", command, { cwd: folder, encoding: "utf8" });
  if (status === 0) return undefined;
  const complaint = stderr?.split("\n").find((line) => line.includes("error") || line.includes("ERR"));
  return error?.message ?? complaint ?? `npm exited with ${status}`;
}
