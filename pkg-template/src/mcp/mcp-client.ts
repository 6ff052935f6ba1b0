// A client of the Model Context Protocol whose large results stay here: part of `contextweaver/mcp`.
import { DEFAULT_ROOM, findAgainAsync, readOnAsync } from "../adapters/read-on.js";
import type { DrilldownInput, RecallInput } from "../adapters/read-on.js";
import type { ContextManager } from "../manager/context-manager.js";
import type { AbortOptions } from "../boundary/abort.js";
import { ContextWeaverError } from "../boundary/errors.js";
import { fields } from "../boundary/guard.js";
import { refuseUnknown } from "../boundary/guard-errors.js";
import { ResultDigests } from "./mcp-digest.js";
import { resultTokens } from "./result-size.js";
import type { ResultSizeOptions } from "./result-size.js";
import { drilldownTool, recallTool } from "../manager/text.js";

/** A client of `@modelcontextprotocol/sdk` 1.x or `@modelcontextprotocol/client` 2.x, as far as it is served. */
export interface McpClient {
  callTool(params: never, ...more: never[]): Promise<object>;
  listTools(params?: never, ...more: never[]): Promise<object>;
}

/** How a client is served. */
export interface FirewalledOptions extends ResultSizeOptions {
  /**
   * The name by which results are read on in: offered by `listTools`, and answered here. `false` where another client of the same
   * manager offers it. Default: `drilldown`.
   */
  readonly drilldown?: string | false;
  /**
   * The name by which what earlier calls brought is found again: offered and answered likewise. `false` for none. Default: `recall`
   * where `drilldown` is offered.
   */
  readonly recall?: string | false;
}

type Fields = Readonly<Record<string, unknown>>;
type Method = (...args: unknown[]) => unknown;

/**
 * Returns the client with its results digested: a call of a tool is logged with its result in the manager, which keeps all of it by
 * handle, and whoever called gets at most `result_tokens` of it. Results that are small come back as they are. `listTools` adds the
 * tools that read on and find again, and calls of them are answered without the server. Everything else is the client's.
 *
 * Of a result that is digested, pictures and sounds stay, and `isError`; text is one block. `structuredContent`, which the SDK has
 * checked by then, is left out with a line that says where it is: it says the same again, in full. `_meta["contextweaver/handle"]`
 * is the handle of the raw text.
 *
 * Errors: those of the client; `DUPLICATE_ID` of `listTools` when a tool of the server has the name of one that is added;
 * `QUOTA_EXCEEDED` when a result does not fit in the manager's artifacts. Options that are not as described are `UNKNOWN_FIELD`,
 * `INVALID_INPUT` or `OUT_OF_RANGE` at once.
 */
export function firewalled<Client extends McpClient>(
  client: Client,
  manager: ContextManager,
  options?: FirewalledOptions,
): Client {
  const {
    drilldown = "drilldown",
    recall = drilldown !== false && "recall",
    result_tokens,
    context_tokens,
    ...others
  } = fields(options);
  refuseUnknown(others, ["drilldown", "recall", "result_tokens", "context_tokens"]);
  const most = resultTokens({ result_tokens, context_tokens } as ResultSizeOptions);
  for (const [field, name] of Object.entries({ drilldown, recall })) {
    if (name !== false && (typeof name !== "string" || name === ""))
      throw new ContextWeaverError("INVALID_INPUT", "expected a name, or false", { path: `/${field}` });
  }
  if (recall !== false && recall === drilldown)
    throw new ContextWeaverError("DUPLICATE_ID", "two tools have one name", { path: "/recall" });
  for (const method of ["callTool", "listTools"] as const) {
    if (typeof (client as unknown as Fields | null)?.[method] === "function") continue;
    throw new ContextWeaverError("INVALID_INPUT", `expected a client with \`${method}\``, {
      path: "/client",
      hint: "a Client of the official SDK",
    });
  }
  if (typeof (manager as unknown as Fields | null)?.["ingestMcpResult"] !== "function") {
    throw new ContextWeaverError("INVALID_INPUT", "expected a ContextManager", { path: "/manager" });
  }
  return wrapped(
    client,
    new Firewall(client as unknown as Fields, manager, { drilldown, recall } as AddedNames, most).methods(),
  );
}

/** Names of the tools that are added. */
interface AddedNames {
  readonly drilldown: string | false;
  readonly recall: string | false;
}

/** An object with some of its methods replaced. Its own run on itself, as what is private to it is not there for others. */
function wrapped<T extends object>(target: T, replaced: Readonly<Record<string, unknown>>): T {
  const bound = new WeakMap<Method, Method>();
  return new Proxy(target, {
    get(_, key) {
      if (typeof key === "string" && Object.hasOwn(replaced, key)) return replaced[key];
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "function" || key === "constructor") return value;
      const method = value as Method;
      if (!bound.has(method)) bound.set(method, method.bind(target) as Method);
      return bound.get(method);
    },
    set: (_, key, value) => Reflect.set(target, key, value, target),
  });
}

class Firewall {
  readonly #client: Fields;
  readonly #manager: ContextManager;
  readonly #names: AddedNames;
  readonly #digests: ResultDigests;

  constructor(client: Fields, manager: ContextManager, names: AddedNames, most: number) {
    [this.#client, this.#manager, this.#names] = [client, manager, names];
    this.#digests = new ResultDigests(manager, names.drilldown, most);
  }

  methods(): Readonly<Record<string, unknown>> {
    const { experimental } = this.#client as { readonly experimental?: { readonly tasks?: Fields } };
    const tasks = experimental?.tasks;
    return {
      callTool: (params: Fields, ...more: unknown[]) => this.#call(params, more),
      listTools: (...args: unknown[]) => this.#list(args),
      ...(typeof tasks?.["callToolStream"] === "function" && {
        experimental: wrapped(experimental as object, {
          tasks: wrapped(tasks, {
            callToolStream: (params: Fields, ...more: unknown[]) => this.#stream(tasks, params, more),
          }),
        }),
      }),
    };
  }

  async #call(params: Fields, more: readonly unknown[]): Promise<object> {
    if (this.#isOwn(params)) return this.#read(params, more);
    return this.#digested(
      params,
      (await (this.#client["callTool"] as Method).call(this.#client, params, ...more)) as Fields,
    );
  }

  /** A call that runs as a task, which tells how it goes on before it tells its result. */
  async *#stream(tasks: Fields, params: Fields, more: readonly unknown[]): AsyncGenerator<Fields, void, void> {
    if (this.#isOwn(params)) {
      yield { type: "result", result: await this.#read(params, more) };
      return;
    }
    for await (const message of (tasks["callToolStream"] as Method).call(
      tasks,
      params,
      ...more,
    ) as AsyncIterable<Fields>) {
      yield message["type"] === "result"
        ? { ...message, result: this.#digested(params, message["result"] as Fields) }
        : message;
    }
  }

  async #list(args: readonly unknown[]): Promise<object> {
    const listed = (await (this.#client["listTools"] as Method).call(this.#client, ...args)) as Fields & {
      readonly tools: readonly Fields[];
    };
    const added = Object.entries(this.#names).filter(([, name]) => name !== false) as [keyof AddedNames, string][];
    for (const [field, name] of added) {
      if (!listed.tools.some((tool) => tool["name"] === name)) continue;
      const hint = `give another name: firewalled(client, manager, { ${field}: "${field === "drilldown" ? "read_on" : "find_again"}" })`;
      throw new ContextWeaverError("DUPLICATE_ID", `the server has a tool \`${name}\`, too`, { path: "/tools", hint });
    }
    // They stand at the end, and a page is not the end.
    if (added.length === 0 || listed["nextCursor"] !== undefined) return listed;
    const offers = added.map(([field, name]) => {
      const { description, args_schema: inputSchema } = field === "drilldown" ? drilldownTool() : recallTool();
      return { name, description, inputSchema, annotations: { readOnlyHint: true, openWorldHint: false } };
    });
    return { ...listed, tools: [...listed.tools, ...offers] };
  }

  #isOwn({ name }: Fields): boolean {
    return typeof name === "string" && Object.values(this.#names).includes(name);
  }

  /** Answers a call of a tool that is added. */
  async #read({ name, arguments: given }: Fields, more: readonly unknown[]): Promise<object> {
    const input = (given ?? {}) as DrilldownInput & RecallInput;
    // The options of a request stand last, in both versions of the SDK.
    const { signal } = (more.at(-1) ?? {}) as AbortOptions;
    const read = name === this.#names.recall ? findAgainAsync : readOnAsync;
    const run = (): Promise<string> => read(this.#manager, input, DEFAULT_ROOM, signal);
    const { result, error_type } = await this.#manager.runAddedAsync({ name: String(name), input }, run);
    return { content: [{ type: "text", text: result }], ...(error_type !== undefined && { isError: true }) };
  }

  #digested({ name, arguments: given }: Fields, result: Fields): Fields {
    const { name: server } = ((this.#client["getServerVersion"] as Method | undefined)?.call(this.#client) ??
      {}) as Fields;
    return this.#digests.digest({
      name: String(name),
      arguments: given,
      server: typeof server === "string" ? server : undefined,
      result,
    }).result;
  }
}
