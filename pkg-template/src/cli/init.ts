// `contextweaver init`: writes a running example for the framework that a project uses.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { nearest } from "../boundary/nearest.js";
import { EXAMPLES } from "./init-examples.js";
import type { Example } from "./init-examples.js";
import { UsageError } from "./options.js";
import type { CommandLine } from "./options.js";
import { painter, safeJson, table } from "./print.js";

/** What is written, into the folder where the program runs. */
const FILE = "contextweaver-example.mjs";
const FALLBACK = "plain";
const PACKAGES = ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"];

/** Runs the command; returns what to print. */
export function init({ files, values }: CommandLine): string {
  if (files.length > 0) throw new UsageError("init takes no file; it writes into the folder where it runs");
  const { framework, list, force, json } = values;
  if (list) {
    if (framework !== undefined || force) throw new UsageError("--list writes nothing");
    return json
      ? `${safeJson(Object.entries(EXAMPLES).map(([name, { title, packages }]) => ({ name, title, packages })))}\n`
      : listed(painter(values["color"]));
  }
  const installed = packagesHere(framework === undefined);
  const found = Object.keys(EXAMPLES).filter((name) => EXAMPLES[name]?.packages.some((one) => installed.has(one)));
  const name = framework === undefined ? (found[0] ?? FALLBACK) : named(framework as string);
  const example = EXAMPLES[name] as Example;
  const written = [{ name: FILE, text: example.text }, ...(example.beside ? [example.beside] : [])];
  write(written, force === true);
  const missing = ["contextweaver", ...example.needs].filter((one) => !installed.has(one));
  const next = [...(missing.length > 0 ? [`npm install ${missing.join(" ")}`] : []), example.run];
  const others = framework === undefined ? found.slice(1) : [];
  if (json)
    return `${safeJson({ file: FILE, ...(example.beside && { beside: example.beside.name }), framework: name, others, next })}\n`;
  const why =
    framework !== undefined
      ? "as you said"
      : found.length > 0
        ? "found in package.json"
        : "no framework was found in package.json";
  const also =
    others.length > 0
      ? `Also found: ${others.join(", ")}. For one of these: contextweaver init --framework ${others[0]} --force\n`
      : "";
  return `Wrote ${written.map((file) => file.name).join(" and ")} for ${example.title} (${why}).\n${also}\nNext\n${next.map((command) => `  ${command}\n`).join("")}\nIt runs without a key; the file says where your model goes. More: node_modules/contextweaver/docs/${example.page}\n`;
}

function named(framework: string): string {
  if (Object.hasOwn(EXAMPLES, framework)) return framework;
  const names = Object.keys(EXAMPLES);
  // Whoever writes the name of a package means what it is.
  const byPackage = names.find((name) => EXAMPLES[name]?.packages.includes(framework));
  if (byPackage !== undefined) return byPackage;
  const meant = nearest(framework, names);
  throw new UsageError(`--framework is one of ${names.join(", ")}${meant ? `; did you mean '${meant}'?` : ""}`);
}

/** The names of the packages of the project; none where there is no list of them that can be read, unless that `matters`. */
function packagesHere(matters: boolean): ReadonlySet<string> {
  let text: string;
  try {
    text = new TextDecoder().decode(readFileSync("package.json"));
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    if (code === "ENOENT" || !matters) return new Set();
    throw new UsageError(`package.json cannot be read: ${message}`, "input");
  }
  let manifest: Readonly<Record<string, unknown>> | null;
  try {
    manifest = JSON.parse(text.replace(/^\ufeff/, "")) as Readonly<Record<string, unknown>> | null;
  } catch {
    if (!matters) return new Set();
    throw new UsageError("package.json is not valid JSON; --framework does without", "input");
  }
  return new Set(PACKAGES.flatMap((key) => Object.keys((manifest?.[key] ?? {}) as object)));
}

function write(files: readonly { readonly name: string; readonly text: string }[], force: boolean): void {
  const there = force ? undefined : files.find(({ name }) => existsSync(name));
  if (there)
    throw new UsageError(`${there.name} is there already, and nothing was written; --force writes over it`, "input");
  for (const { name, text } of files) {
    try {
      writeFileSync(name, text, ...(force ? [] : [{ flag: "wx" as const }]));
    } catch (error) {
      throw new UsageError(`${name} cannot be written: ${(error as Error).message}`, "input");
    }
  }
}

function listed(paint: ReturnType<typeof painter>): string {
  const rows = Object.entries(EXAMPLES).map(([name, { title, packages }]) => [
    name,
    title,
    packages.join(", ") || "none of these",
  ]);
  return `${table(["framework", "for", "known by"], rows, paint, [])}\n`;
}
