// Whole numbers that JavaScript would round, between two wires. Where a message of JSON-RPC comes in, such a number becomes a text that
// nobody sends: half a surrogate pair and its digits. Where one goes out, and on the way into the engine, it is a number again.
import { joined } from "./bytes.js";
import { messageIn } from "./message-line.js";

/** What begins such a text. A peer who sends it has sent a number, which is its right anyway. */
const MARK = "\ud800";
/** Texts shorter than that are never one, so that others are not looked at. */
const LEAST_DIGITS = 16;
const MARKED = /^\ud800(-?\d{16,})$/;
/** The same as JSON.stringify writes it. An escaped quote begins no text. */
const WRITTEN = /(^|[^\\])"\\ud800(-?\d{16,})"/g;
const HALF_ESCAPE = /\\u[dD][89a-fA-F]/;
/** A number as long, or nothing to look for. */
const MAY_HAVE = /\d{16}/;
const QUOTE_OR_NUMBER = /["\d-]/g;
const NUMBER = /-?\d[\d.eE+-]*/y;
const WHOLE = /^-?\d{16,}$/;
/** A line of an event stream, which U+2028 and U+2029 do not end, as they do in patterns. */
const DATA = /(^|[\r\n])(data:[^\r\n]*)/g;
/** Its fields are numbers for the SDK, too. */
const PROGRESS = /"method"\s*:\s*"notifications\/progress"/;

/** The digits of a number that is kept as text; nothing of another text. @internal */
export function exactDigits(text: string): string | undefined {
  return text.length > LEAST_DIGITS && text.startsWith(MARK) ? MARKED.exec(text)?.[1] : undefined;
}

/** Writes the numbers of JSON text that would be rounded as texts. Linear in the text. @internal */
export function keepingNumbers(json: string): string {
  if (!MAY_HAVE.test(json) || PROGRESS.test(json)) return json;
  let out = "";
  let kept = 0;
  let at = 0;
  for (;;) {
    QUOTE_OR_NUMBER.lastIndex = at;
    const found = QUOTE_OR_NUMBER.exec(json);
    if (!found) return out + json.slice(kept);
    at = found.index;
    if (found[0] === '"') {
      at = endOfString(json, at + 1);
      continue;
    }
    NUMBER.lastIndex = at;
    const [number = "-"] = NUMBER.exec(json) ?? [];
    if (WHOLE.test(number) && String(Number(number)) !== number) {
      out += `${json.slice(kept, at)}"\\ud800${number}"`;
      kept = at + number.length;
    }
    at += number.length;
  }
}

/** The place behind the quote that ends a string. */
function endOfString(json: string, start: number): number {
  for (let at = start; ; ) {
    const quote = json.indexOf('"', at);
    if (quote === -1) return json.length;
    let before = quote;
    while (before > start && json[before - 1] === "\\") before -= 1;
    if ((quote - before) % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

/** Writes data that {@link parseKeeping} read. @internal */
export function stringifyKept(value: unknown): string {
  return numbersIn(JSON.stringify(value));
}

function numbersIn(json: string): string {
  return json.replace(WRITTEN, "$1$2");
}

/** Writes those texts in JSON text as numbers again, and each half of a surrogate pair as U+FFFD. @internal */
export function withNumbers(json: string): string {
  if (!HALF_ESCAPE.test(json)) return json;
  // An escaped backslash begins no escape.
  return numbersIn(json).replace(
    /\\\\|\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[dD][89a-fA-F][\da-fA-F]{2}/g,
    (found) => (found.length === 6 ? "\\ufffd" : found),
  );
}

/** A copy of data in which those texts are the numbers that JavaScript has for them. @internal */
export function withRounded<T>(value: T): T {
  if (typeof value === "string") return (exactDigits(value) === undefined ? value : Number(exactDigits(value))) as T;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withRounded) as T;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withRounded(inner as unknown)])) as T;
}

/** Reads JSON text whose numbers are kept. @internal */
export function parseKeeping(json: string): unknown {
  return JSON.parse(keepingNumbers(json));
}

const encoder = /* @__PURE__ */ new TextEncoder();
const decoder = /* @__PURE__ */ new TextDecoder("utf-8", { ignoreBOM: true });
const NEWLINE = 0x0a;

/** Rewrites a body line by line: no number and no string of JSON goes over one. Bytes of lines that stay are passed on as they are. @internal */
export function rewritten(
  body: ReadableStream<Uint8Array>,
  rewrite: (line: string) => string,
): ReadableStream<Uint8Array> {
  let begun: Uint8Array[] = [];
  const line = (parts: readonly Uint8Array[]): Uint8Array => {
    const bytes = joined(parts);
    const text = decoder.decode(bytes);
    const other = rewrite(text);
    return other === text ? bytes : encoder.encode(other);
  };
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) {
          if (begun.length > 0) controller.enqueue(line(begun));
          return controller.close();
        }
        const end = value.lastIndexOf(NEWLINE) + 1;
        if (end === 0) {
          begun.push(value);
          continue;
        }
        const whole = [...begun, value.subarray(0, end)];
        begun = end < value.length ? [value.subarray(end)] : [];
        return controller.enqueue(line(whole));
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** Rewrites the data of an event stream, or JSON; other bodies stay. @internal */
export function withBody(response: Response, rewrite: (json: string) => string): Response {
  const type = response.headers.get("content-type") ?? "";
  const isStream = /^text\/event-stream\b/i.test(type);
  if (!response.body || (!isStream && !/^application\/json\b/i.test(type))) return response;
  const ofLines = (text: string): string =>
    isStream ? text.replace(DATA, (_, before: string, line: string) => before + rewrite(line)) : rewrite(text);
  const headers = new Headers(response.headers);
  headers.delete("content-length");
  return new Response(rewritten(response.body, ofLines), {
    status: response.status,
    statusText: response.statusText,
    headers,
  });
}

interface Writes {
  write(text: string): boolean;
  once(event: string, listener: (error?: Error) => void): unknown;
  off(event: string, listener: (error?: Error) => void): unknown;
}

/** The SDK's reader of lines, as far as it has to be known. */
interface LineReader {
  _buffer?: Uint8Array | undefined;
  readMessage(): unknown;
}

/** A transport of the SDK over standard input and output, as far as it has to be known: it offers no way to the text. */
interface LineTransport {
  readonly _readBuffer?: LineReader;
  readonly _process?: { readonly stdin?: Writes };
  readonly _stdout?: Writes;
  send(message: object, options?: unknown): Promise<void>;
}

/**
 * Has a transport over standard input and output keep numbers. One that is made otherwise than those of the SDK stays as it is, and
 * rounds as JavaScript does. @internal
 */
export function keepsNumbers(transport: object): void {
  const made = transport as LineTransport;
  if (typeof made._readBuffer?.readMessage !== "function") return;
  readsNumbers(made._readBuffer);
  const send = made.send.bind(made);
  made.send = (message, options) => {
    const output = made._process?.stdin ?? made._stdout;
    const json = JSON.stringify(message);
    const other = withNumbers(json);
    return !output || other === json ? send(message, options) : written(output, `${other}\n`);
  };
}

/** Has the SDK's reader of lines keep numbers, and find the messages behind what programs print before them. @internal */
export function readsNumbers(buffer: LineReader): void {
  const readMessage = buffer.readMessage.bind(buffer);
  let isFirst = true;
  buffer.readMessage = () => {
    for (;;) {
      const bytes = buffer._buffer;
      const end = bytes?.indexOf(NEWLINE) ?? -1;
      if (!bytes || end === -1) return readMessage();
      const text = decoder.decode(bytes.subarray(0, end));
      const line = messageIn(text, isFirst);
      if (line === undefined) {
        buffer._buffer = bytes.subarray(end + 1);
        continue;
      }
      const other = keepingNumbers(line);
      if (other !== text) buffer._buffer = sameKind(bytes, joined([encoder.encode(other), bytes.subarray(end)]));
      isFirst = false;
      return readMessage();
    }
  };
}

/** Bytes as a `Buffer`, where the others are one. */
function sameKind(bytes: Uint8Array, other: Uint8Array): Uint8Array {
  const { from } = bytes.constructor as unknown as {
    from(buffer: ArrayBufferLike, offset?: number, length?: number): Uint8Array;
  };
  return bytes.constructor === Uint8Array
    ? other
    : from.call(bytes.constructor, other.buffer, other.byteOffset, other.byteLength);
}

function written(output: Writes, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error?: Error): void => {
      output.off("drain", drained);
      reject(error ?? new Error("the message cannot be written"));
    };
    const drained = (): void => {
      output.off("error", failed);
      resolve();
    };
    output.once("error", failed);
    if (output.write(text)) drained();
    else output.once("drain", drained);
  });
}
