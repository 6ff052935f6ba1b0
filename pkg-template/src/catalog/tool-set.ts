// Tools as the AI SDK takes them, without the SDK.
import type { JsonObject } from "../types.js";

/**
 * A JSON Schema that the AI SDK takes for its own: a Standard Schema by its type. Nothing is checked by it; `validateArgs`
 * checks arguments.
 */
export interface AiSdkSchema {
  readonly jsonSchema: JsonObject;
  readonly validate: undefined;
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => { readonly value: unknown };
    readonly jsonSchema: {
      readonly input: () => Record<string, unknown>;
      readonly output: () => Record<string, unknown>;
    };
  };
}

/** A tool of the AI SDK that is only described; `{ ...tool, execute }` runs it. */
export interface AiSdkTool {
  readonly description: string;
  readonly inputSchema: AiSdkSchema;
}

/** Tools by their names, as `generateText` and `streamText` take them. */
export type AiSdkToolSet = Record<string, AiSdkTool>;

/** By this the SDK knows its own schemas, whichever copy of it is loaded. */
const SCHEMA = /* @__PURE__ */ Symbol.for("vercel.ai.schema");

/** Makes the tools of a list a set. @internal */
export function toolSet(tools: readonly JsonObject[]): AiSdkToolSet {
  const entries = tools.map(({ name, description, inputSchema }) => {
    const tool = { description, inputSchema: aiSdkSchema(inputSchema as JsonObject) };
    return [name, tool] as [string, AiSdkTool];
  });
  return Object.fromEntries(entries);
}

/** Makes a JSON Schema one of the SDK's. @internal */
export function aiSdkSchema(jsonSchema: JsonObject): AiSdkSchema {
  const input = (): Record<string, unknown> => ({ ...jsonSchema });
  const schema: AiSdkSchema = {
    jsonSchema,
    validate: undefined,
    "~standard": {
      version: 1,
      vendor: "contextweaver",
      validate: (value) => ({ value }),
      jsonSchema: { input, output: input },
    },
  };
  return Object.defineProperty(schema, SCHEMA, { value: true, enumerable: true });
}
