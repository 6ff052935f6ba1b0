// What `call_tool` does in a loop of the AI SDK: it runs the tool that is meant as the SDK would, with its approval and its output.
import { callOffer } from "./agent-loop.js";
import type { AgentLoop } from "./agent-loop.js";
import type { FrontCall } from "./tool-front.js";

/** Which tool is run, and by what. */
export interface CallToolInput {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** What of a tool of the SDK depends on the tool that is meant. */
export interface ToolRunner {
  readonly execute: (input: CallToolInput, options?: { readonly toolCallId?: string }) => unknown;
  readonly needsApproval: (input: CallToolInput, options: never) => Promise<boolean>;
  readonly toModelOutput: (given: never) => Promise<never>;
}

/** A tool of the SDK, as far as it is run. */
interface RunTool {
  readonly inputSchema?: unknown;
  readonly execute?: (input: unknown, options: unknown) => unknown;
  readonly needsApproval?: boolean | ((input: unknown, options: unknown) => boolean | PromiseLike<boolean>);
  readonly toModelOutput?: (given: unknown) => unknown;
}

/** What a schema says of a value, in either of the forms that there are. */
interface Validated {
  readonly success?: boolean;
  readonly error?: Error;
  readonly value?: unknown;
  readonly issues?: readonly { readonly message: string }[];
}

/** Makes what runs tools of a set; `prepared` is there to wait for while the loop does not know them yet. */
export function runnerOf(
  tools: Readonly<Record<string, object>>,
  loop: AgentLoop,
  prepared: () => Promise<void> | undefined,
): ToolRunner {
  const { name: own } = callOffer();
  const toolOf = (call: FrontCall | undefined): RunTool =>
    call && Object.hasOwn(tools, call.name) ? (tools[call.name] as RunTool) : {};
  const run = (input: CallToolInput, options: { readonly toolCallId?: string } | undefined): unknown => {
    const call = loop.resolve(own, input);
    if (!call) return loop.answer(own, input, options?.toolCallId);
    const tool = toolOf(call);
    if (!tool.execute) return loop.demand(call.name);
    const execute = (value: unknown): unknown => tool.execute?.(value, options);
    const value = validated(tool.inputSchema, call.arguments);
    if (!(value instanceof Promise)) return execute(value);
    const output = value.then(execute);
    return isGenerator(tool.execute) ? littleByLittle(output as Promise<AsyncIterable<unknown>>) : output.then(lastOf);
  };
  return {
    execute(input, options) {
      const waiting = prepared();
      // What can be run at once is, as a tool may answer little by little.
      return waiting ? waiting.then(() => run(input, options)).then(lastOf) : run(input, options);
    },
    async needsApproval(input, options) {
      await prepared();
      const call = loop.resolve(own, input);
      const { needsApproval = false } = toolOf(call);
      return typeof needsApproval === "function" ? needsApproval(call?.arguments, options) : needsApproval;
    },
    async toModelOutput(given) {
      await prepared();
      const { input, output } = given as { readonly input: unknown; readonly output: unknown };
      const call = loop.resolve(own, input);
      const { execute, toModelOutput } = toolOf(call);
      if (execute && toModelOutput)
        return (await toModelOutput({ ...(given as object), input: call?.arguments })) as never;
      return (
        typeof output === "string" ? { type: "text", value: output } : { type: "json", value: output ?? null }
      ) as never;
    },
  };
}

function isGenerator(execute: unknown): boolean {
  return Object.prototype.toString.call(execute) === "[object AsyncGeneratorFunction]";
}

/** What a tool is going to say. The SDK reads on in what is returned at once, and not in what a promise brings. */
async function* littleByLittle(output: Promise<AsyncIterable<unknown>>): AsyncGenerator<unknown> {
  yield* await output;
}

/** What a tool said in the end. */
async function lastOf(output: unknown): Promise<unknown> {
  const isMore = typeof (output as Partial<AsyncIterable<unknown>> | null | undefined)?.[Symbol.asyncIterator];
  if (isMore !== "function") return output;
  let last: unknown;
  for await (const said of output as AsyncIterable<unknown>) last = said;
  return last;
}

/** Arguments as a tool takes them: checked, and changed where its schema does that. Throws what is wrong. */
function validated(given: unknown, args: unknown): unknown {
  const schema = (typeof given === "function" && !("~standard" in given) ? (given as () => unknown)() : given) as
    | {
        readonly validate?: (value: unknown) => Validated | PromiseLike<Validated>;
        readonly "~standard"?: { readonly validate: (value: unknown) => Validated | PromiseLike<Validated> };
      }
    | null
    | undefined;
  const checked = schema?.["~standard"]?.validate(args) ?? schema?.validate?.(args);
  if (checked === undefined) return args;
  const read = ({ success, error, value, issues }: Validated): unknown => {
    if (success === false) throw error ?? new Error("the arguments do not fit the schema");
    if (issues) throw new Error(issues.map(({ message }) => message).join("; "));
    return value;
  };
  return "then" in checked ? Promise.resolve(checked).then(read) : read(checked);
}
