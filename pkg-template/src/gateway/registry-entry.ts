// What to write into a configuration for a server that a `server.json` of the MCP registry describes, or a server card: which program in
// which version, or which address, and what its user has to fill in. Pure: whoever asks has read the document.
import { ContextWeaverError } from "../boundary/errors.js";
import { token } from "../boundary/guard-errors.js";
import { fieldsOf } from "../boundary/fields.js";
import type { Fields } from "../boundary/fields.js";

/** An entry of `mcpServers`, with what a reader should know of it. */
export interface RegistryEntry {
  /** The name in the registry. */
  readonly name: string;
  readonly version: string | undefined;
  readonly entry: Readonly<Record<string, unknown>>;
  /** What the entry runs or calls, as a line. */
  readonly runs: string;
  /** Whether the program is always the same version. */
  readonly is_pinned: boolean;
  /** Variables of the environment that the entry names, with what they are for. */
  readonly needs: readonly { readonly name: string; readonly about: string }[];
  /** What the document has beside what was chosen. */
  readonly others: readonly string[];
  readonly warnings: readonly string[];
}

const OFFICIAL = "io.modelcontextprotocol.registry/official";
/** A version that is always the same. */
const EXACT = /^v?\d[\w.+-]*$/;
/** What runs packages of each kind: the program, what stands before the package, and how the package is written with its version. */
const RUNTIMES: Readonly<
  Record<
    string,
    {
      readonly command: string;
      readonly before: readonly string[];
      readonly pinned: (identifier: string, version: string) => string;
      readonly after?: readonly string[];
    }
  >
> = {
  npm: { command: "npx", before: ["-y"], pinned: (identifier, version) => `${identifier}@${version}` },
  pypi: { command: "uvx", before: [], pinned: (identifier, version) => `${identifier}@${version}` },
  nuget: { command: "dnx", before: [], pinned: (identifier, version) => `${identifier}@${version}`, after: ["--yes"] },
  oci: { command: "docker", before: ["run", "-i", "--rm"], pinned: withTag },
};
/** Names of packages; what a shell or an option would be is none. */
const IDENTIFIER = /^(?:@[\w.-]+\/)?[\w][\w.:/-]*(?:@sha256:[0-9a-f]{64})?$/;

/** What is chosen of a document that has several. */
export type RegistryKind = "npm" | "pypi" | "oci" | "nuget" | "remote";

/**
 * Reads a `server.json`, an answer of the registry's API with one in it, or a server card. `name` is what the entry will be called: names
 * of variables begin with it. Errors, with the path: `INVALID_INPUT`, `MISSING_FIELD`, `UNSUPPORTED` for what cannot be run or is no one
 * version.
 */
export function registryEntry(document: unknown, name: string, kind?: RegistryKind): RegistryEntry {
  const { server, status, at } = serverOf(document);
  const found = string(server["name"]) ?? string(fieldsOf(server["serverInfo"])["name"]);
  if (found === undefined)
    throw new ContextWeaverError("MISSING_FIELD", "there is no name of a server", {
      path: `${at}/name`,
      hint: "a server.json of the registry, or a server card",
    });
  const version = string(server["version"]);
  const all = choices(server, at);
  const chosen = all.find((choice) => (kind === undefined ? choice.problem === undefined : choice.kind === kind));
  if (!chosen || chosen.problem !== undefined) throw nothing(all, at, kind, chosen?.problem);
  const writer = new EntryWriter(name);
  const made =
    chosen.kind === "remote"
      ? remote(chosen.fields, chosen.path, writer)
      : program(chosen.kind, chosen.fields, chosen.path, writer);
  const warnings = [
    ...(status === "active" ? [] : [`the registry says that this server is ${status}`]),
    ...(chosen.kind === "remote"
      ? ["nobody can pin the version of a server that others run: start the gateway with --store, which pins its tools"]
      : []),
  ];
  return {
    name: found,
    version,
    ...made,
    is_pinned: chosen.kind !== "remote",
    needs: writer.needs,
    others: all.filter((choice) => choice !== chosen).map(({ about }) => about),
    warnings,
  };
}

interface Choice {
  readonly kind: RegistryKind;
  readonly fields: Fields;
  readonly path: string;
  readonly about: string;
  /** Why it cannot be chosen. */
  readonly problem?: ContextWeaverError;
}

function serverOf(document: unknown): { readonly server: Fields; readonly status: string; readonly at: string } {
  if (typeof document !== "object" || document === null || Array.isArray(document))
    throw new ContextWeaverError("INVALID_INPUT", "expected an object", {
      path: "",
      hint: "a server.json of the registry, or a server card",
    });
  const { server, servers, _meta } = document as Fields;
  if (Array.isArray(servers)) {
    const latest =
      servers.length === 1
        ? 0
        : (servers as readonly unknown[]).findIndex((one) => officialOf(one)["isLatest"] === true);
    if (latest === -1)
      throw new ContextWeaverError("INVALID_INPUT", `the document has ${servers.length} servers`, {
        path: "/servers",
        hint: "one of them",
      });
    const inner = serverOf(servers[latest]);
    return { ...inner, at: `/servers/${latest}${inner.at}` };
  }
  const isWrapped = typeof server === "object" && server !== null;
  return {
    server: isWrapped ? (server as Fields) : (document as Fields),
    status: string(officialOf({ _meta })["status"]) ?? "active",
    at: isWrapped ? "/server" : "",
  };
}

function officialOf(entry: unknown): Fields {
  return fieldsOf(fieldsOf(fieldsOf(entry)["_meta"])[OFFICIAL]);
}

function choices(server: Fields, at: string): readonly Choice[] {
  const listed = (field: string): readonly Fields[] =>
    Array.isArray(server[field]) ? (server[field] as readonly unknown[]).map(fieldsOf) : [];
  const packages = listed("packages").map((fields, place): Choice => {
    const kind = string(fields["registryType"] ?? fields["registry_type"]) ?? "unknown";
    const path = `${at}/packages/${place}`;
    const about = `${kind} ${string(fields["identifier"]) ?? "?"} ${string(fields["version"]) ?? ""}`.trim();
    const problem = packageProblem(kind, fields, path);
    return { kind: kind as RegistryKind, fields, path, about, ...(problem && { problem }) };
  });
  // A card of the first drafts has one address, relative to its own.
  const remotes = listed("remotes").map(
    (fields, place): Choice => ({
      kind: "remote",
      fields,
      path: `${at}/remotes/${place}`,
      about: `remote ${string(fields["url"]) ?? "?"}`,
    }),
  );
  return [...packages, ...remotes];
}

function packageProblem(kind: string, fields: Fields, path: string): ContextWeaverError | undefined {
  if (!Object.hasOwn(RUNTIMES, kind))
    return new ContextWeaverError("UNSUPPORTED", `packages of the kind \`${token(kind)}\` cannot be run from here`, {
      path: `${path}/registryType`,
      hint: `one of ${Object.keys(RUNTIMES).join(", ")}`,
    });
  const { type = "stdio" } = fieldsOf(fields["transport"]);
  if (type !== "stdio")
    return new ContextWeaverError(
      "UNSUPPORTED",
      `the package speaks ${token(String(type))}, and not on standard input and output`,
      { path: `${path}/transport/type` },
    );
  const identifier = string(fields["identifier"]) ?? "";
  if (!IDENTIFIER.test(identifier))
    return new ContextWeaverError("INVALID_INPUT", "expected the name of a package", { path: `${path}/identifier` });
  const version = string(fields["version"]);
  const isPinned = kind === "oci" && (identifier.includes("@sha256:") || /:\d[\w.-]*$/.test(identifier));
  if (isPinned || (version !== undefined && EXACT.test(version))) return undefined;
  return new ContextWeaverError(
    "UNSUPPORTED",
    version === undefined ? "the package names no version" : "the version is not one version",
    { path: `${path}/version`, hint: "a version such as 1.2.3: what runs must not change by itself" },
  );
}

function nothing(
  all: readonly Choice[],
  at: string,
  kind: string | undefined,
  problem: ContextWeaverError | undefined,
): ContextWeaverError {
  const first = problem ?? all.find((choice) => choice.problem !== undefined)?.problem;
  if (first && (kind === undefined || problem)) return first;
  const hint = all.length > 0 ? `it has ${all.map(({ about }) => about).join("; ")}` : "`packages` or `remotes`";
  return new ContextWeaverError(
    "MISSING_FIELD",
    kind === undefined
      ? "the document has nothing to run or to call"
      : `the document has nothing of the kind \`${kind}\``,
    { path: at, hint },
  );
}

/** Writes texts of an entry: what its user has to fill in becomes a variable of the environment. */
class EntryWriter {
  readonly #prefix: string;
  readonly #needs = new Map<string, string>();

  constructor(name: string) {
    this.#prefix = name
      .replace(/[^A-Za-z0-9]+/g, "_")
      .replace(/^(?=\d)/, "_")
      .toUpperCase();
  }

  get needs(): RegistryEntry["needs"] {
    return [...this.#needs].map(([name, about]) => ({ name, about }));
  }

  /** A variable that the user sets. */
  need(name: string, about: unknown, is_own = false): string {
    const plain =
      name
        .replace(/[^A-Za-z0-9]+/g, "_")
        .replace(/^_+|_+$/g, "")
        .toUpperCase() || "VALUE";
    const variable = is_own ? name : `${this.#prefix}_${plain}`;
    this.#needs.set(variable, string(about) ?? "");
    return `\${${variable}}`;
  }

  /** The value of an input; nothing where it need not be given. `{name}` in it are inputs of their own. */
  value(input: Fields, name: string, path: string): string | undefined {
    const written = string(input["value"]);
    if (written === undefined) {
      const otherwise = input["isSecret"] === true ? undefined : string(input["default"]);
      if (otherwise !== undefined) return literal(otherwise, `${path}/default`);
      return input["isRequired"] === true || input["is_required"] === true
        ? this.need(name, input["description"])
        : undefined;
    }
    const variables = fieldsOf(input["variables"]);
    return literal(written, `${path}/value`).replace(/\{(\w+)\}/g, (whole, variable: string) => {
      if (!Object.hasOwn(variables, variable)) return whole;
      return (
        this.value({ isRequired: true, ...fieldsOf(variables[variable]) }, variable, `${path}/variables/${variable}`) ??
        ""
      );
    });
  }
}

/** A text of the document: it must not read the environment of whoever writes it down. */
function literal(text: string, path: string): string {
  if (/\$\{/.test(text))
    throw new ContextWeaverError("UNSUPPORTED", "the text would take a variable of this machine", { path });
  if (/[\0-\x1f\x7f]/.test(text))
    throw new ContextWeaverError("INVALID_INPUT", "the text has control characters", { path });
  return text;
}

function program(
  kind: Exclude<RegistryKind, "remote">,
  fields: Fields,
  path: string,
  writer: EntryWriter,
): Pick<RegistryEntry, "entry" | "runs"> {
  const { command, before, pinned, after = [] } = RUNTIMES[kind] as (typeof RUNTIMES)[string];
  const hint = string(fields["runtimeHint"] ?? fields["runtime_hint"]);
  if (hint !== undefined && hint !== command)
    throw new ContextWeaverError("UNSUPPORTED", `the package wants to be run by \`${token(hint)}\``, {
      path: `${path}/runtimeHint`,
      hint: `packages of ${kind} are run by ${command}`,
    });
  const env = variablesOf(
    fields["environmentVariables"] ?? fields["environment_variables"],
    `${path}/environmentVariables`,
    writer,
  );
  const forwarded = kind === "oci" ? Object.keys(env).flatMap((name) => ["-e", name]) : [];
  const what = pinned(String(fields["identifier"]), string(fields["version"]) ?? "");
  const runtime = argumentsOf(
    fields["runtimeArguments"] ?? fields["runtime_arguments"],
    `${path}/runtimeArguments`,
    writer,
  ).filter((argument) => !before.includes(argument));
  const own = argumentsOf(
    fields["packageArguments"] ?? fields["package_arguments"],
    `${path}/packageArguments`,
    writer,
  );
  const args = [...before, ...forwarded, ...runtime, what, ...after, ...own];
  return { entry: { command, args, ...(Object.keys(env).length > 0 && { env }) }, runs: [command, ...args].join(" ") };
}

function argumentsOf(given: unknown, path: string, writer: EntryWriter): readonly string[] {
  return (Array.isArray(given) ? (given as readonly unknown[]) : []).flatMap((one, place) => {
    const input = fieldsOf(one);
    const at = `${path}/${place}`;
    const name = string(input["name"]);
    const value = writer.value(input, name ?? string(input["valueHint"]) ?? `argument_${place + 1}`, at);
    if (input["type"] !== "named") return value === undefined ? [] : [value];
    if (name === undefined)
      throw new ContextWeaverError("MISSING_FIELD", "a named argument has no name", { path: `${at}/name` });
    if (value !== undefined) return [literal(name, `${at}/name`), value];
    // Without a value that could be given it is a flag.
    const isFlag =
      input["valueHint"] === undefined && input["default"] === undefined && input["isRequired"] === undefined;
    return isFlag ? [literal(name, `${at}/name`)] : [];
  });
}

function variablesOf(given: unknown, path: string, writer: EntryWriter): Record<string, string> {
  return Object.fromEntries(
    (Array.isArray(given) ? (given as readonly unknown[]) : []).flatMap((one, place) => {
      const input = fieldsOf(one);
      const name = string(input["name"]) ?? "";
      if (!/^[A-Za-z_]\w*$/.test(name))
        throw new ContextWeaverError("INVALID_INPUT", "expected the name of a variable", {
          path: `${path}/${place}/name`,
        });
      const isNeeded = input["isRequired"] === true || input["is_required"] === true;
      // The program knows it by this name, and so does whoever sets it.
      const value =
        string(input["value"]) === undefined &&
        isNeeded &&
        (input["isSecret"] === true || string(input["default"]) === undefined)
          ? writer.need(name, input["description"], true)
          : writer.value(input, name, `${path}/${place}`);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function remote(fields: Fields, path: string, writer: EntryWriter): Pick<RegistryEntry, "entry" | "runs"> {
  const type = string(fields["type"] ?? fields["transport_type"]) ?? "streamable-http";
  if (type !== "streamable-http" && type !== "sse")
    throw new ContextWeaverError("UNSUPPORTED", `a server over ${token(type)} cannot be called`, {
      path: `${path}/type`,
    });
  const url = writer.value({ value: fields["url"], variables: fields["variables"] }, "url", path) ?? "";
  const plain = url.replace(/\$\{\w+\}/g, "x");
  if (!URL.canParse(plain) || !/^https?:$/.test(new URL(plain).protocol))
    throw new ContextWeaverError("INVALID_INPUT", "expected an address with http or https", { path: `${path}/url` });
  const headers = Object.fromEntries(
    (Array.isArray(fields["headers"]) ? (fields["headers"] as readonly unknown[]) : []).flatMap((one, place) => {
      const input = fieldsOf(one);
      const name = string(input["name"]) ?? "";
      if (!/^[!#$%&'*+.^_`|~\dA-Za-z-]+$/.test(name))
        throw new ContextWeaverError("INVALID_INPUT", "expected the name of a header", {
          path: `${path}/headers/${place}/name`,
        });
      const value = writer.value(input, name, `${path}/headers/${place}`);
      return value === undefined ? [] : [[name, value]];
    }),
  );
  return {
    entry: { type: type === "sse" ? "sse" : "http", url, ...(Object.keys(headers).length > 0 && { headers }) },
    runs: url,
  };
}

/** An image with a tag, unless it names one or a digest. */
function withTag(identifier: string, version: string): string {
  return identifier.includes("@sha256:") || /:[^/]+$/.test(identifier) ? identifier : `${identifier}:${version}`;
}

function string(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
