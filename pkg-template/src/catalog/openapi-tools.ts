// Tools of an OpenAPI document: each operation is one.
import {
  Reading,
  addressOf,
  callableName,
  plainCopy,
  recordOf,
  refused,
  securityOf,
  stringOf,
  stringsOf,
} from "./document-tools.js";
import { ContextWeaverError } from "../boundary/errors.js";
import { token } from "../boundary/guard-errors.js";
import { SchemaReader, lookup } from "./openapi-schema.js";
import type { ReadTools } from "./tool-sources.js";
import type { JsonObject, JsonValue, SelectableItem } from "../types.js";

/** In the order of the specification. The first four change nothing, says HTTP. */
const METHODS = ["get", "head", "options", "trace", "query", "put", "post", "delete", "patch"];
const SAFE = ["get", "head", "options", "trace", "query"];
/** Headers that the specification takes from parameters: others set them. */
const RESERVED_HEADERS = ["accept", "content-type", "authorization"];
/** Operations of one document. */
const MAX_OPERATIONS = 20_000;
/** References that lead to another one. */
const MAX_REFERENCES = 16;
/** Parameters of one operation. */
const MAX_PARAMETERS = 500;

/** Reads the operations of a document, or its JSON text. @internal */
export function readOpenApi(given: unknown, options: unknown): ReadTools {
  const reading = new Reading("openapi", options);
  const document = documentOf(typeof given === "string" ? parsed(given) : given, reading);
  new DocumentReader(document, reading).read();
  return reading.done;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const isYaml = /^\s*(---|openapi\s*:|swagger\s*:|#)/.test(text);
    const hint = isYaml
      ? "YAML is not read here: convert it first, such as with `yq -o=json`"
      : "a document of OpenAPI as JSON";
    throw refused("the text is no JSON", "", hint);
  }
}

function documentOf(given: unknown, reading: Reading): JsonObject {
  const document = recordOf(plainCopy(given, "a document of OpenAPI", reading));
  if (!document) throw refused("expected a document of OpenAPI, got a list", "");
  const { openapi, swagger } = document;
  if (openapi === undefined && swagger !== undefined) {
    throw new ContextWeaverError("UNSUPPORTED", "the document is of version 2", {
      path: "/swagger",
      hint: "convert it to OpenAPI 3, such as with swagger2openapi",
    });
  }
  if (openapi === undefined) {
    throw new ContextWeaverError("MISSING_FIELD", "missing field `openapi`", {
      path: "/openapi",
      hint: 'the version of OpenAPI, such as "3.1.0"',
    });
  }
  if (typeof openapi !== "string" || !/^3\.\d+(\.|$)/.test(openapi)) {
    throw new ContextWeaverError("UNSUPPORTED", "the document is of another version of OpenAPI", {
      path: "/openapi",
      hint: "3.0 and 3.1 are read",
    });
  }
  return document;
}

function schemesOf(document: JsonObject): JsonObject | undefined {
  return recordOf(recordOf(document["components"])?.["securitySchemes"]);
}

/** Where a parameter goes, and what stands for it among the arguments. */
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: JsonObject;
}

class DocumentReader {
  readonly #document: JsonObject;
  readonly #reading: Reading;
  readonly #schemas: SchemaReader;
  readonly #names = new Map<string, number>();
  /** Parameters that schemes of security set, as `in` and name. */
  readonly #keys: ReadonlySet<string>;
  #index = 0;

  constructor(document: JsonObject, reading: Reading) {
    this.#document = document;
    this.#reading = reading;
    const schemes = Object.values(schemesOf(document) ?? {})
      .map(recordOf)
      .filter((scheme) => scheme?.["type"] === "apiKey");
    this.#keys = new Set(
      schemes.map((scheme) => `${String(scheme?.["in"])} ${String(scheme?.["name"]).toLowerCase()}`),
    );
    const version = String(document["openapi"]);
    this.#schemas = new SchemaReader(document, version.startsWith("3.0"));
    if (!/^3\.[01](\.|$)/.test(version)) {
      reading.note({
        code: "openapi-version",
        severity: "info",
        path: "/openapi",
        message: "a later version than 3.1 is read as 3.1",
      });
    }
  }

  read(): void {
    const { paths, webhooks } = this.#document;
    const list = recordOf(paths);
    if (paths !== undefined && !list) throw refused("expected paths", "/paths");
    if (recordOf(webhooks) && Object.keys(webhooks as object).length > 0) {
      this.#reading.note({
        code: "openapi-webhooks",
        severity: "info",
        path: "/webhooks",
        message: "webhooks are called by the server, and are no tools",
      });
    }
    if (!list || Object.keys(list).length === 0) {
      this.#reading.note({
        code: "openapi-empty",
        path: "/paths",
        message: "the document has no paths, so that there are no tools",
      });
      return;
    }
    for (const [path, item] of Object.entries(list)) {
      if (path.startsWith("x-")) continue;
      const at = `/paths/${token(path)}`;
      const found = recordOf(item) && this.#target(recordOf(item) as JsonObject, at);
      if (!found) {
        this.#skip(at, "expected operations by their methods");
        continue;
      }
      for (const method of METHODS) {
        if (found[method] !== undefined) this.#operation(path, method, found, `${at}/${method}`);
      }
    }
  }

  #skip(at: string, message: string): void {
    this.#reading.each({ index: this.#index++, path: at }, () => {
      throw refused(message, at);
    });
  }

  /** What an object or a reference in its place stands for; undefined when it leads nowhere. */
  #target(object: JsonObject, at: string, item_id?: string): JsonObject | undefined {
    let target = object;
    for (let steps = 0; target["$ref"] !== undefined; steps += 1) {
      const next = steps < MAX_REFERENCES ? recordOf(lookup(this.#document, target["$ref"])) : undefined;
      if (!next) {
        this.#reading.note(
          {
            code: "openapi-ref",
            path: at,
            message: "the reference leads to nothing in the document; nothing is fetched",
          },
          item_id,
        );
        return undefined;
      }
      if (!this.#schemas.affordsAgain(next)) {
        this.#reading.note(
          { code: "openapi-schema-cut", path: at, message: "the references of the document lead to more than is read" },
          item_id,
        );
        return undefined;
      }
      const { $ref: _, ...beside } = target;
      target = { ...next, ...beside };
    }
    return target;
  }

  #operation(path: string, method: string, item: JsonObject, at: string): void {
    const place = { index: this.#index++, path: at };
    this.#reading.each(place, () => {
      if (place.index >= MAX_OPERATIONS)
        throw new ContextWeaverError("TOO_LARGE", `more than ${MAX_OPERATIONS} operations`, { path: at });
      const operation = recordOf(item[method]);
      if (!operation) throw refused("expected an operation", at);
      const { operationId, summary, description, tags, deprecated, requestBody } = operation;
      if (operationId !== undefined && stringOf(operationId) === undefined)
        throw refused("expected an id", `${at}/operationId`);
      const named = stringOf(operationId) ?? `${method} ${path}`;
      const name = this.#nameOf(callableName(named) || callableName(`${method}_operation`));
      const id = this.#reading.idOf(stringOf(operationId) ?? `${method.toUpperCase()} ${path}`);
      if (stringOf(operationId) !== undefined && !id.endsWith(named)) {
        this.#reading.note(
          {
            code: "openapi-duplicate-id",
            path: `${at}/operationId`,
            message: "another operation has this id; a number makes it unique",
          },
          id,
        );
      }
      const { args_schema, sent, body } = this.#arguments(item, operation, at, id);
      const isSafe = SAFE.includes(method);
      const tool: SelectableItem = {
        id,
        kind: "tool",
        name,
        description: [summary, description]
          .map(stringOf)
          .filter((text, index, all) => text !== undefined && all.indexOf(text) === index)
          .join("\n\n"),
        tags: [
          ...stringsOf(tags),
          ...(isSafe ? ["read_only"] : method === "delete" ? ["destructive"] : []),
          ...(deprecated === true ? ["deprecated"] : []),
        ],
        ...(stringsOf(tags)[0] !== undefined && { namespace: stringsOf(tags)[0] as string }),
        args_schema,
        side_effects: !isSafe,
        metadata: {
          openapi: {
            method: method.toUpperCase(),
            path,
            ...(stringOf(operationId) !== undefined && { operation_id: named }),
            servers: this.#servers(item, operation, at, id),
            security: securityOf(operation["security"] ?? this.#document["security"], schemesOf(this.#document)),
            parameters: sent,
            ...(body !== undefined && { body }),
            ...(deprecated === true && { deprecated: true }),
          },
        },
      };
      if (requestBody !== undefined && ["get", "head", "trace"].includes(method)) {
        this.#reading.note(
          {
            code: "openapi-body",
            severity: "info",
            path: `${at}/requestBody`,
            message: "a body means nothing to this method, says HTTP",
          },
          id,
        );
      }
      this.#reading.add(tool, place);
    });
  }

  /** A name that no other tool of the document has. */
  #nameOf(name: string): string {
    const before = this.#names.get(name) ?? 0;
    this.#names.set(name, before + 1);
    if (before === 0) return name;
    const suffix = `_${before + 1}`;
    return this.#nameOf(`${name.slice(0, 64 - suffix.length)}${suffix}`);
  }

  #arguments(
    item: JsonObject,
    operation: JsonObject,
    at: string,
    id: string,
  ): { args_schema: JsonObject; sent: JsonObject; body?: string } {
    const properties: Record<string, JsonValue> = Object.create(null) as Record<string, JsonValue>;
    const required: string[] = [];
    const sent: Record<string, JsonValue> = Object.create(null) as Record<string, JsonValue>;
    this.#schemas.begin();
    const add = (
      wanted: string,
      prefix: string,
      schema: JsonObject,
      where: JsonValue,
      isRequired: boolean,
      path: string,
    ): void => {
      let name = wanted;
      while (name in properties) name = `${prefix}_${name}`;
      if (name !== wanted)
        this.#reading.note(
          {
            code: "openapi-argument-renamed",
            path,
            message: "another argument has this name; its place stands before it",
          },
          id,
        );
      properties[name] = schema;
      sent[name] = where;
      if (isRequired) required.push(name);
    };
    for (const [path, { name, in: where, required: isRequired, schema }] of this.#parameters(item, operation, at, id)) {
      add(name, where, schema, { in: where, name }, isRequired, path);
    }
    const body = this.#body(operation, at, id);
    if (body) add("body", "request", body.schema, { in: "body" }, body.required, `${at}/requestBody`);
    this.#schemas.findings.forEach((finding) => this.#reading.note(finding, id));
    const args_schema = { type: "object", properties: { ...properties }, ...(required.length > 0 && { required }) };
    return { args_schema, sent: { ...sent }, ...(body && { body: body.media_type }) };
  }

  /** The parameters of an operation, and of its path where the operation has none of the name. */
  #parameters(item: JsonObject, operation: JsonObject, at: string, id: string): ReadonlyMap<string, Parameter> {
    const found = new Map<string, readonly [string, Parameter]>();
    const above = at.slice(0, at.lastIndexOf("/"));
    for (const [list, base] of [
      [item["parameters"], above],
      [operation["parameters"], at],
    ] as const) {
      if (list === undefined) continue;
      if (!Array.isArray(list)) throw refused("expected a list of parameters", `${base}/parameters`);
      if (list.length > MAX_PARAMETERS)
        throw new ContextWeaverError("TOO_LARGE", `more than ${MAX_PARAMETERS} parameters`, {
          path: `${base}/parameters`,
        });
      for (const [place, given] of list.entries()) {
        const path = `${base}/parameters/${place}`;
        const parameter = this.#parameter(given, path, id);
        if (parameter) found.set(`${parameter.in} ${parameter.name}`, [path, parameter]);
      }
    }
    return new Map(found.values());
  }

  #parameter(given: unknown, path: string, id: string): Parameter | undefined {
    const parameter = recordOf(given) && this.#target(recordOf(given) as JsonObject, path, id);
    const name = stringOf(parameter?.["name"]);
    const where = stringOf(parameter?.["in"]);
    if (!parameter || name === undefined || where === undefined) {
      this.#reading.note(
        { code: "openapi-parameter", path, message: "expected a parameter with `name` and `in`; it is left out" },
        id,
      );
      return undefined;
    }
    if (where === "header" && RESERVED_HEADERS.includes(name.toLowerCase())) {
      this.#reading.note(
        {
          code: "openapi-parameter",
          severity: "info",
          path,
          message: "the specification ignores a parameter for this header",
        },
        id,
      );
      return undefined;
    }
    if (this.#keys.has(`${where} ${name.toLowerCase()}`)) {
      this.#reading.note(
        {
          code: "openapi-parameter",
          severity: "info",
          path,
          message: "a scheme of security sets it, and no model; it is left out",
        },
        id,
      );
      return undefined;
    }
    const [media] = Object.entries(recordOf(parameter["content"]) ?? {});
    const [schema, below] = media
      ? [recordOf(media[1])?.["schema"], `${path}/content/${token(media[0])}/schema`]
      : [parameter["schema"], `${path}/schema`];
    const read = this.#schemas.read(schema ?? {}, below);
    const description = stringOf(parameter["description"]);
    return {
      name,
      in: where,
      required: parameter["required"] === true || where === "path",
      schema: {
        ...read,
        ...(description !== undefined && { description }),
        ...(parameter["deprecated"] === true && { deprecated: true }),
      },
    };
  }

  #body(
    operation: JsonObject,
    at: string,
    id: string,
  ): { schema: JsonObject; required: boolean; media_type: string } | undefined {
    const path = `${at}/requestBody`;
    if (operation["requestBody"] === undefined) return undefined;
    const body =
      recordOf(operation["requestBody"]) && this.#target(recordOf(operation["requestBody"]) as JsonObject, path, id);
    const media = Object.entries(recordOf(body?.["content"]) ?? {});
    if (!body || media.length === 0) {
      this.#reading.note({ code: "openapi-body", path, message: "the body has no content; it is left out" }, id);
      return undefined;
    }
    const [media_type, how] =
      media.find(([type]) => /^application\/([\w.+-]*\+)?json\b/i.test(type)) ?? (media[0] as [string, JsonValue]);
    if (media.length > 1) {
      const message = `of ${media.length} media types the arguments describe one, which the metadata names`;
      this.#reading.note({ code: "openapi-media", severity: "info", path: `${path}/content`, message }, id);
    }
    const schema = this.#schemas.read(recordOf(how)?.["schema"] ?? {}, `${path}/content/${token(media_type)}/schema`);
    const description = stringOf(body["description"]);
    return {
      schema: { ...schema, ...(description !== undefined && schema["description"] === undefined && { description }) },
      required: body["required"] === true,
      media_type,
    };
  }

  #servers(item: JsonObject, operation: JsonObject, at: string, id: string): string[] {
    const list = [operation, item, this.#document]
      .map(({ servers }) => servers)
      .find((servers) => Array.isArray(servers) && servers.length > 0);
    const addresses = (Array.isArray(list) ? list.slice(0, 64) : []).flatMap(
      (server) => addressOf(recordOf(server)?.["url"]) ?? [],
    );
    if (addresses.some(({ isCut }) => isCut)) {
      this.#reading.note(
        {
          code: "openapi-server",
          path: at,
          message: "the address of a server names a user or a query, which is left out",
        },
        id,
      );
    }
    return addresses.map(({ address }) => address);
  }
}
