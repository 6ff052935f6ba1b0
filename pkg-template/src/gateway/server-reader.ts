// One server of a configuration, as any of the known programs writes it.
import { ContextWeaverError } from "../boundary/errors.js";
import { encode, fields, listed } from "../boundary/guard.js";
import { token, wholeWithin } from "../boundary/guard-errors.js";
import { nearest } from "../boundary/nearest.js";
import type { Masking } from "../manager/options.js";
import type { JsonObject } from "../types.js";
import type { ConfigWarning, ServerConfig, ServerOAuth, ServerTransport } from "./config-types.js";
import type { Expansion } from "./expand.js";
import { MAX_RESULT_TOKENS } from "../mcp/result-size.js";
import { readOAuth } from "./oauth-reader.js";
import { isPerUser } from "./user-values.js";

/** Milliseconds of a call unless the config says otherwise: what the official SDKs take. */
export const TIMEOUT_MS = 60_000;
/** The longest that can be waited with a timer. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;
/** A `timeout` below is one in seconds: nobody means a call of less than a second. */
const SECONDS_BELOW = 1_000;
const MAX_ARGS = 1_000;
const MAX_ENTRIES = 1_000;

/** What we read, under the names by which programs have it. */
const KNOWN = [
  "type",
  "transport",
  "command",
  "args",
  "env",
  "cwd",
  "url",
  "serverUrl",
  "httpUrl",
  "headers",
  "http_headers",
  "disabled",
  "enabled",
  "timeout",
  "timeout_ms",
  "include_tools",
  "includeTools",
  "enabledTools",
  "tools",
  "exclude_tools",
  "excludeTools",
  "disabledTools",
  "forward_headers",
  "connection",
  "probe",
  "policy",
  "oauth",
  "redact",
  "result_tokens",
];
/** Fields of other programs that mean nothing here, and why. */
const IGNORED: Readonly<Record<string, string>> = {
  autoApprove: "say by `policy` what is allowed",
  alwaysAllow: "say by `policy` what is allowed",
  trust: "say by `policy` what is allowed",
  disabledAutoApprove: "say by `policy` what is allowed",
  envFile: "load it into the environment, and name the variables in `env`",
  auth: "say how the gateway is authorized by `oauth`",
  dev: "",
  gallery: "",
  version: "",
  description: "",
  title: "",
  note: "",
  comment: "",
  $comment: "",
  icon: "",
  iconPath: "",
  watch: "",
  sandbox: "",
  sandboxEnabled: "",
  fromGalleryId: "",
  isActive: "use `disabled`",
  name: "",
  id: "",
  tags: "",
  chatMenu: "",
  serverInstructions: "",
  startup: "",
  initTimeout: "",
  autoStart: "",
  restart: "",
  retry: "",
  source: "",
  installUrl: "",
  provider: "",
};
/** The ways to name a transport. */
const TYPES: Readonly<Record<string, "stdio" | "http" | "sse">> = {
  stdio: "stdio",
  local: "stdio",
  http: "http",
  https: "http",
  streamablehttp: "http",
  httpstream: "http",
  httpstreamable: "http",
  streamable: "http",
  remote: "http",
  sse: "sse",
  httpsse: "sse",
};
/** Fields in which a server is reached; some programs have them in an object `transport`. */
const REACHED_BY = ["type", "command", "args", "env", "cwd", "url", "serverUrl", "httpUrl", "headers", "http_headers"];
/** Fields that count as absent where they are empty. */
const EMPTY = ["type", "transport", "command", "url", "serverUrl", "httpUrl", "cwd"];
/** Headers that belong to the connection or the protocol: what a client sends in them is not for the server behind the gateway. */
const NOT_FORWARDED =
  /^(?:host|connection|content-.*|transfer-encoding|te|trailer|upgrade|keep-alive|proxy-.*|expect|accept|accept-encoding|origin|referer|cookie2|mcp-.*|last-event-id|sec-.*)$/;
/** Characters of a header's name. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~\dA-Za-z-]+$/;
/** What a header cannot carry. */
const NOT_IN_HEADER = /[\0\r\n]|[^\x00-\xff]/;

/** Whether a server is disabled, whatever else stands there. @internal */
export function isDisabled(written: unknown): boolean {
  const { disabled, enabled } = (written ?? {}) as { readonly disabled?: unknown; readonly enabled?: unknown };
  return disabled === true || enabled === false;
}

/** What is null counts as absent everywhere: programs write it for what their user left empty. */
function withoutEmpty(written: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(written).filter(
      ([name, value]) => value !== null && !(EMPTY.includes(name) && typeof value === "string" && value.trim() === ""),
    ),
  );
}

/** Takes what each caller has of its own out of the headers or variables of a server. */
function apart(transport: ServerTransport): {
  readonly transport: ServerTransport;
  readonly per_user?: Readonly<Record<string, string>>;
} {
  const field = transport.type === "stdio" ? "env" : "headers";
  const all = Object.entries(transport.type === "stdio" ? transport.env : transport.headers);
  const per_user = Object.fromEntries(all.filter(([, text]) => isPerUser(text)));
  if (Object.keys(per_user).length === 0) return { transport };
  return {
    transport: {
      ...transport,
      [field]: Object.fromEntries(all.filter(([, text]) => !isPerUser(text))),
    } as ServerTransport,
    per_user,
  };
}

/** Reads one server. @internal */
export class ServerReader {
  readonly #name: string;
  readonly #written: Record<string, unknown>;
  readonly #path: string;
  readonly #expansion: Expansion;
  readonly #warn: (warning: Omit<ConfigWarning, "file">) => void;

  /** Fields that stand in an object `transport`. */
  readonly #nested: readonly string[];

  constructor(
    name: string,
    written: Record<string, unknown>,
    path: string,
    expansion: Expansion,
    warn: (warning: Omit<ConfigWarning, "file">) => void,
  ) {
    const own = withoutEmpty(written);
    const { transport, ...rest } = own;
    const isNested = typeof transport === "object" && transport !== null && !Array.isArray(transport);
    const nested = isNested ? withoutEmpty(fields(transport, `${path}/transport`)) : {};
    this.#nested = REACHED_BY.filter((field) => Object.hasOwn(nested, field) && !Object.hasOwn(rest, field));
    this.#written = isNested ? { ...nested, ...rest } : own;
    [this.#name, this.#path, this.#expansion, this.#warn] = [name, path, expansion, warn];
  }

  read(): ServerConfig {
    this.#reportUnknown();
    const { transport, per_user } = apart(this.#transport());
    // A list says which tools there are, an object what is said of them.
    const { tools, result_tokens } = this.#written;
    const isOverrides = typeof tools === "object" && tools !== null && !Array.isArray(tools);
    const include_tools = this.#tools(
      "include_tools",
      "includeTools",
      "enabledTools",
      ...(isOverrides ? [] : ["tools"]),
    );
    const exclude_tools = this.#tools("exclude_tools", "excludeTools", "disabledTools");
    const forward_headers = this.#forwarded(transport);
    const oauth = this.#written["oauth"] === undefined ? undefined : this.#oauth(transport);
    const redact = this.#masking();
    const { policy } = this.#written;
    return {
      name: this.#name,
      transport,
      disabled: this.#flag("disabled", false) || !this.#flag("enabled", true),
      timeout_ms: this.#timeout(),
      ...(include_tools && { include_tools }),
      ...(exclude_tools && { exclude_tools }),
      ...(forward_headers && { forward_headers }),
      ...(per_user && { per_user }),
      probe: this.#flag("probe", true),
      connection: this.#connection(transport),
      ...(oauth && { oauth }),
      ...(redact !== undefined && { redact }),
      ...(policy !== undefined && { policy: this.#json("policy") }),
      ...(isOverrides && { tools: this.#json("tools") }),
      ...(result_tokens !== undefined && {
        result_tokens: wholeWithin(result_tokens, 1, MAX_RESULT_TOKENS, this.#at("result_tokens")),
      }),
    };
  }

  /** An object that the runtime reads. */
  #json(field: string): JsonObject {
    return JSON.parse(encode(fields(this.#written[field], this.#at(field)), this.#at(field))) as JsonObject;
  }

  #at(field: string): string {
    return `${this.#path}${this.#nested.includes(field) ? "/transport" : ""}/${token(field)}`;
  }

  #reportUnknown(): void {
    for (const name of Object.keys(this.#written)) {
      if (KNOWN.includes(name)) continue;
      const path = this.#at(name);
      if (Object.hasOwn(IGNORED, name)) {
        const hint = IGNORED[name];
        this.#warn({
          code: "IGNORED_FIELD",
          path,
          message: `\`${name}\` of another program has no meaning here`,
          ...(hint && { hint }),
        });
        continue;
      }
      const meant = nearest(name, KNOWN);
      this.#warn({
        code: "UNKNOWN_FIELD",
        path,
        message: `unknown field \`${token(name)}\``,
        ...(meant !== undefined && { hint: `did you mean \`${meant}\`?` }),
      });
    }
  }

  #transport(): ServerTransport {
    const { command } = this.#written;
    const address = (["url", "serverUrl", "httpUrl"] as const).find((name) => this.#written[name] !== undefined);
    const type = this.#type();
    if (type === "stdio" || (type === undefined && address === undefined)) {
      if (command === undefined)
        throw this.#missing(
          type === undefined ? "`command` or `url`" : "`command`",
          type === undefined ? "" : "/command",
        );
      if (address !== undefined) throw this.#both(address);
      return this.#stdio();
    }
    if (address === undefined) throw this.#missing("`url`", "/url");
    if (command !== undefined) throw this.#both("command");
    const kind = type ?? "http";
    return {
      type: kind,
      url: this.#url(address),
      headers: this.#record(this.#written["headers"] === undefined ? "http_headers" : "headers", true),
      // One program says with the name of the field which transport it is.
      ...(type === undefined && address !== "httpUrl" && { sse_fallback: true }),
    };
  }

  #type(): "stdio" | "http" | "sse" | undefined {
    const field = this.#written["type"] === undefined ? "transport" : "type";
    const written = this.#written[field];
    if (written === undefined) return undefined;
    const plain = typeof written === "string" ? written.toLowerCase().replace(/[-_ +]/g, "") : "";
    const type = Object.hasOwn(TYPES, plain) ? TYPES[plain] : undefined;
    if (type !== undefined) return type;
    throw new ContextWeaverError("INVALID_INPUT", "expected a transport: `stdio`, `http` or `sse`", {
      path: this.#at(field),
    });
  }

  #missing(what: string, below: string): ContextWeaverError {
    const hint = "`command` with `args` starts a program, `url` connects over HTTP";
    return new ContextWeaverError("MISSING_FIELD", `the server has no ${what}`, { path: this.#path + below, hint });
  }

  #both(field: string): ContextWeaverError {
    return new ContextWeaverError("INVALID_INPUT", "a server has either `command` or `url`", { path: this.#at(field) });
  }

  #stdio(): ServerTransport {
    const command = this.#text("command");
    // Of a variable, perhaps.
    if (command.trim() === "")
      throw new ContextWeaverError("INVALID_INPUT", "the command is empty", { path: this.#at("command") });
    const cwd = this.#written["cwd"] === undefined ? undefined : this.#text("cwd");
    return { type: "stdio", command, args: this.#args(), env: this.#record("env", false), ...(cwd && { cwd }) };
  }

  #args(): string[] {
    return this.#list("args", MAX_ARGS).map((arg, place) =>
      this.#forAll(typeof arg === "number" ? String(arg) : arg, `${this.#at("args")}/${place}`),
    );
  }

  #url(field: string): string {
    const path = this.#at(field);
    const written = this.#text(field);
    let url: URL;
    try {
      url = new URL(written);
    } catch {
      throw new ContextWeaverError("INVALID_INPUT", "expected an address, such as https://example.com/mcp", { path });
    }
    if (url.protocol !== "http:" && url.protocol !== "https:")
      throw new ContextWeaverError("INVALID_INPUT", "expected an address with http or https", { path });
    if (url.username || url.password) {
      throw new ContextWeaverError("INVALID_INPUT", "the address has a user name or password, which no request sends", {
        path,
        hint: 'use `headers`: {"Authorization": "Basic …"}',
      });
    }
    return written;
  }

  /** Environment variables, or headers. Numbers and booleans are common in the former, and mean their text. */
  #record(field: string, isHeaders: boolean): Record<string, string> {
    const above = this.#at(field);
    const entries = Object.entries(fields(this.#written[field], above)).filter(([, value]) => value !== null);
    if (entries.length > MAX_ENTRIES)
      throw new ContextWeaverError("TOO_LARGE", `more than ${MAX_ENTRIES} entries`, { path: above });
    return Object.fromEntries(
      entries.map(([name, value]) => {
        const path = `${above}/${token(name)}`;
        const text = this.#expanded(
          typeof value === "number" || typeof value === "boolean" ? String(value) : value,
          path,
        );
        if (isHeaders && !HEADER_NAME.test(name))
          throw new ContextWeaverError("INVALID_INPUT", "expected the name of a header", { path });
        if (isHeaders && NOT_IN_HEADER.test(text))
          throw new ContextWeaverError("INVALID_INPUT", "the value has characters that no header carries", {
            path,
            hint: "trim line ends, as of a file",
          });
        if (!isHeaders && (name === "" || /[=\0]/.test(name) || text.includes("\0")))
          throw new ContextWeaverError("INVALID_INPUT", "expected a variable that a program can be given", { path });
        return [name, text];
      }),
    );
  }

  #text(field: string): string {
    return this.#forAll(this.#written[field], this.#at(field));
  }

  #expanded(value: unknown, path: string): string {
    if (typeof value !== "string") throw new ContextWeaverError("INVALID_INPUT", "expected a string", { path });
    return this.#expansion.text(value, path);
  }

  /** The same of what is one for all callers. */
  #forAll(value: unknown, path: string): string {
    const text = this.#expanded(value, path);
    if (!isPerUser(text)) return text;
    throw new ContextWeaverError("UNSUPPORTED", "values of a user stand in `headers`, or in `env` of a program", {
      path,
      hint: 'such as {"Authorization": "Bearer ${user.token}"}',
    });
  }

  #list(field: string, most: number): unknown[] {
    const value = this.#written[field];
    if (value === undefined) return [];
    const list = listed(value, this.#at(field));
    if (list === undefined)
      throw new ContextWeaverError("INVALID_INPUT", "expected an array of strings", { path: this.#at(field) });
    if (list.length > most)
      throw new ContextWeaverError("TOO_LARGE", `more than ${most} values`, { path: this.#at(field) });
    return list;
  }

  #flag(field: string, otherwise: boolean): boolean {
    const value = this.#written[field] ?? otherwise;
    if (typeof value === "boolean") return value;
    throw new ContextWeaverError("INVALID_INPUT", "expected true or false", { path: this.#at(field) });
  }

  #timeout(): number {
    const field = this.#written["timeout_ms"] === undefined ? "timeout" : "timeout_ms";
    const value = this.#written[field];
    if (value === undefined) return TIMEOUT_MS;
    const path = this.#at(field);
    if (typeof value !== "number") throw new ContextWeaverError("INVALID_INPUT", "expected a number", { path });
    const isSeconds = field === "timeout" && value < SECONDS_BELOW;
    const milliseconds = Math.round(isSeconds ? value * 1_000 : value);
    if (!(milliseconds >= 1 && milliseconds <= MAX_TIMEOUT_MS)) {
      throw new ContextWeaverError("OUT_OF_RANGE", "expected a time above 0", {
        path,
        hint: `\`timeout_ms\` from 1 to ${MAX_TIMEOUT_MS} milliseconds`,
      });
    }
    if (isSeconds) {
      const message = `programs differ in the unit of \`timeout\`: ${value} is taken for seconds`;
      this.#warn({ code: "GUESSED", path, message, hint: "`timeout_ms` is always in milliseconds" });
    }
    return milliseconds;
  }

  #tools(...names: readonly string[]): readonly string[] | undefined {
    const given = names.filter((name) => this.#written[name] !== undefined);
    if (given.length === 0) return undefined;
    return given.flatMap((field) =>
      this.#list(field, 10_000).map((value, place) => {
        if (typeof value === "string" && value !== "" && value.length <= 256) return value;
        throw new ContextWeaverError("INVALID_INPUT", "expected the name of a tool, or a glob such as `read_*`", {
          path: `${this.#at(field)}/${place}`,
        });
      }),
    );
  }

  #forwarded(transport: ServerTransport): readonly string[] | undefined {
    const field = "forward_headers";
    if (this.#written[field] === undefined) return undefined;
    if (transport.type === "stdio")
      throw new ContextWeaverError("INVALID_INPUT", "a program gets no headers", {
        path: this.#at(field),
        hint: "use `env`",
      });
    const names = this.#list(field, 100).map((value, place) => {
      const path = `${this.#at(field)}/${place}`;
      const name = typeof value === "string" ? value.toLowerCase() : "";
      if (!HEADER_NAME.test(name))
        throw new ContextWeaverError("INVALID_INPUT", "expected the name of a header", { path });
      if (NOT_FORWARDED.test(name))
        throw new ContextWeaverError(
          "INVALID_INPUT",
          `\`${name}\` belongs to the connection of the client and cannot be sent on`,
          { path },
        );
      return name;
    });
    return [...new Set(names)].sort();
  }

  #connection(transport: ServerTransport): "shared" | "session" {
    const value = this.#written["connection"];
    if (value === undefined) return transport.type === "stdio" ? "shared" : "session";
    if (value === "shared" || value === "session") return value;
    throw new ContextWeaverError("INVALID_INPUT", "expected `shared` or `session`", { path: this.#at("connection") });
  }

  #masking(): Masking | undefined {
    const value = this.#written["redact"];
    if (value === undefined || typeof value === "boolean") return value;
    const path = this.#at("redact");
    const { except, ...rest } = fields(value, path);
    const other = Object.keys(rest)[0];
    if (other !== undefined)
      throw new ContextWeaverError("UNKNOWN_FIELD", `unknown field \`${token(other)}\``, {
        path: `${path}/${token(other)}`,
        hint: "`except` has the fields that are not masked",
      });
    const list = listed(except, `${path}/except`);
    if (list === undefined)
      throw new ContextWeaverError(
        "INVALID_INPUT",
        "expected true, false, or an object with `except`: names of fields",
        { path },
      );
    const names = list.map((name, place) => {
      if (typeof name === "string" && name !== "") return name;
      throw new ContextWeaverError("INVALID_INPUT", "expected the name of a field, such as `csrf*` or `upload.token`", {
        path: `${path}/except/${place}`,
      });
    });
    return { except: names };
  }

  #oauth({ type }: ServerTransport): ServerOAuth {
    const path = this.#at("oauth");
    if (type === "stdio")
      throw new ContextWeaverError("INVALID_INPUT", "a program is not authorized over HTTP", {
        path,
        hint: "use `env`",
      });
    return readOAuth(fields(this.#written["oauth"], path), path, (value, at) => this.#expanded(value, at));
  }
}
