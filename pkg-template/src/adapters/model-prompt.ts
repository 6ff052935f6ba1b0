// Converts between two similar forms of the AI SDK: its messages, and prompts as its model interface takes them, which has
// several versions.

export type Fields = Readonly<Record<string, unknown>>;

/** Turns a part of a prompt into a part of an SDK message. */
export function readPart(part: Fields): Fields {
  const { type, value } = (part["output"] ?? {}) as Fields;
  if (part["type"] !== "tool-result" || type !== "content") return part;
  return {
    ...part,
    output: { ...(part["output"] as Fields), value: (value as readonly Fields[]).map(modelResultPart) },
  };
}

/**
 * Turns media of a tool result into the form of SDK messages, such as `image-data`. Version 4 of the interface has them as
 * `file`.
 */
function modelResultPart(part: Fields): Fields {
  const { type, mediaType, data: file, ...rest } = part;
  const { type: form, data, url } = (file ?? {}) as Fields;
  if (type !== "file" || (form !== "data" && form !== "url")) return part;
  const kind = String(mediaType).startsWith("image") ? "image" : "file";
  return { ...rest, type: `${kind}-${form}`, mediaType, ...(form === "data" ? { data } : { url: String(url) }) };
}

/** Turns an SDK message into a message of a prompt for a version of the model interface, such as `v4`. */
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

/** Writes the content of a file. A URL becomes a `URL` object, because the interface takes a string for base64. */
function fileData(given: unknown, version: unknown): unknown {
  const data = inline(given) ?? given;
  if (typeof data !== "string") return data;
  const isAddress = /^[a-z][a-z0-9+.-]*:\/\//i.test(data);
  if (version === "v4") return isAddress ? { type: "url", url: new URL(data) } : { type: "data", data };
  return isAddress ? new URL(data) : data;
}

/** The base64 of an address that has all of a file in it: providers put such a beginning before it themselves. */
function inline(address: unknown): string | undefined {
  const text = address instanceof URL ? address.href : address;
  if (typeof text !== "string") return undefined;
  const begin = /^data:[^,]*;base64,/i.exec(text)?.[0];
  return begin === undefined ? undefined : text.slice(begin.length);
}

/**
 * Turns media of a tool result into the form of the version: `v3` takes that of SDK messages, `v4` takes `file`. Older
 * versions take data as `media`, and a URL only as text.
 */
function resultPart(part: Fields, version: unknown): Fields {
  const { type, data, url, mediaType = "image/*", ...rest } = part;
  if (version === "v3" || !/^(image|file)-(data|url)$/.test(String(type))) return part;
  if (version === "v4") return { ...rest, type: "file", mediaType, data: fileData(data ?? url, version) };
  const media = url === undefined ? data : inline(url);
  return media === undefined ? { type: "text", text: String(url) } : { type: "media", data: media, mediaType };
}
