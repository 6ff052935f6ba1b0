// The description of the service for other programs, made of its definition.
import { version } from "contextweaver";
import type { JsonObject } from "contextweaver";
import { OPERATIONS } from "./operations.js";
import type { Operation } from "./operations.js";

/** Where the description is served. */
export const OPENAPI_PATH = "/v1/openapi.json";

/** Describes the service: OpenAPI 3.1. */
export function openApi(): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const [name, one] of Object.entries(OPERATIONS as Readonly<Record<string, Operation>>)) {
    (paths[one.path] ??= {})[one.method.toLowerCase()] = described(name, one);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "contextweaver sessions",
      version: version(),
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    paths,
    components: { schemas: { Problem: PROBLEM }, securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
    security: [{ bearer: [] }],
  } as JsonObject;
}

const PROBLEM = {
  type: "object",
  required: ["title", "status", "code", "detail"],
  properties: {
    title: { type: "string" },
    status: { type: "integer" },
    code: { type: "string" },
    detail: { type: "string" },
    path: { type: "string", description: "JSON pointer into the body, or the name of a header" },
    hint: { type: "string" },
    details: { type: "object" },
  },
};

function described(
  operationId: string,
  { method, path, summary, body, answer, status, keyed, media_type = "application/json" }: Operation,
): JsonObject {
  const { properties = {}, required = [] } = body.json as {
    readonly properties?: JsonObject;
    readonly required?: readonly string[];
  };
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$" },
  }));
  const inQuery =
    method === "GET" || method === "DELETE"
      ? Object.entries(properties).map(([name, schema]) => ({
          name,
          in: "query",
          required: required.includes(name),
          schema,
        }))
      : [];
  const header = (name: string, description: string): object => ({
    name,
    in: "header",
    required: false,
    description,
    schema: { type: "string" },
  });
  const headers = [
    ...(keyed
      ? [header("Idempotency-Key", "The same key with the same body is answered as before, and done once")]
      : []),
    ...("if_sequence" in properties ? [header("If-Match", "The ETag that the session must have: else 412")] : []),
  ];
  const isEmpty = status === 204;
  return {
    operationId,
    summary,
    ...(inPath.length + inQuery.length + headers.length > 0 && { parameters: [...inPath, ...inQuery, ...headers] }),
    ...((method === "POST" || method === "PUT") && {
      requestBody: { required: true, content: { "application/json": { schema: body.json } } },
    }),
    responses: {
      [status]: isEmpty
        ? { description: "Done" }
        : { description: "Done", content: { [media_type]: { schema: answer.json } } },
      default: {
        description: "Refused",
        content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
      },
    },
  } as unknown as JsonObject;
}
