// Prompts as the AI SDK's interface of models has them, in its versions, and the SDK's messages, which they are near to.

export type Fields = Readonly<Record<string, unknown>>;

/** Reads a part of a prompt as one of the SDK's messages. */
export function readPart(part: Fields): Fields {
  const { type, value } = (part["output"] ?? {}) as Fields;
  if (part["type"] !== "tool-result" || type !== "content") return part;
  return {
    ...part,
    output: { ...(part["output"] as Fields), value: (value as readonly Fields[]).map(modelResultPart) },
  };
}

/** Reads media of a result: since version 4 of the interface they are files. */
function modelResultPart(part: Fields): Fields {
  const { type, mediaType, data: file, ...rest } = part;
  const { type: form, data, url } = (file ?? {}) as Fields;
  if (type !== "file" || (form !== "data" && form !== "url")) return part;
  const kind = String(mediaType).startsWith("image") ? "image" : "file";
  return { ...rest, type: `${kind}-${form}`, mediaType, ...(form === "data" ? { data } : { url: String(url) }) };
}

/** Writes a message as the interface of models has it, of which there are versions. */
export function promptMessage({ role, content, ...rest }: Fields, version: unknown): Fields {
  if (role === "system") return { role, content, ...rest };
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : (content as readonly Fields[]);
  return { role, content: parts.map((part) => promptPart(part, version)), ...rest };
}

function promptPart(part: Fields, version: unknown): Fields {
  if (part["type"] === "image" || part["type"] === "file") {
    const { image, data = image, mediaType = "image/*", ...rest } = part;
    return { ...rest, type: "file", mediaType, data: fileData(data, version) };
  }
  const { type, value } = (part["output"] ?? {}) as Fields;
  if (part["type"] !== "tool-result" || type !== "content") return part;
  return {
    ...part,
    output: {
      ...(part["output"] as Fields),
      value: (value as readonly Fields[]).map((one) => resultPart(one, version)),
    },
  };
}

/** Writes what a file holds: an address is an object of its own, as a string would be taken for base64. */
function fileData(data: unknown, version: unknown): unknown {
  if (typeof data !== "string") return data;
  const isAddress = /^[a-z][a-z0-9+.-]*:\/\//i.test(data);
  if (version === "v4") return isAddress ? { type: "url", url: new URL(data) } : { type: "data", data };
  return isAddress ? new URL(data) : data;
}

/** Writes media of a result. */
function resultPart(part: Fields, version: unknown): Fields {
  const { type, data, url, mediaType = "image/*", ...rest } = part;
  if (version === "v3" || !/^(image|file)-(data|url)$/.test(String(type))) return part;
  if (version === "v4") return { ...rest, type: "file", mediaType, data: fileData(data ?? url, version) };
  return url === undefined ? { type: "media", data, mediaType } : { type: "text", text: String(url) };
}
