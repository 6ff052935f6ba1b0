// The last lines of a program's standard error, for reports.
import { maskedText } from "./failure.js";

const MAX_LINES = 50;
const MAX_LINE = 500;
/** Bytes that are read of one piece: a program that floods is not worth more. */
const MAX_PIECE = 16 * 1024;

/** Keeps the last lines of a stream, and masks them when somebody asks. */
export class StderrTail {
  readonly #lines: string[] = [];
  readonly #decoder = new TextDecoder();
  #open = "";
  /** Bytes that have come. */
  bytes = 0;

  constructor(stream: unknown) {
    const { on } = (stream ?? {}) as { readonly on?: unknown };
    if (typeof on !== "function") return;
    const readable = stream as { on(event: "data" | "error", then: (chunk: Uint8Array | string) => void): void };
    readable.on("data", (chunk) => this.#add(chunk));
    // The program is gone; that is told elsewhere.
    readable.on("error", () => undefined);
  }

  #add(chunk: Uint8Array | string): void {
    this.bytes += chunk.length;
    const piece = chunk.length > MAX_PIECE ? chunk.slice(-MAX_PIECE) : chunk;
    const text = typeof piece === "string" ? piece : this.#decoder.decode(piece, { stream: true });
    const lines = (this.#open + text).split("\n");
    this.#open = (lines.pop() ?? "").slice(-MAX_LINE);
    for (const line of lines.slice(-MAX_LINES)) if (line.trim() !== "") this.#lines.push(line.slice(0, MAX_LINE));
    if (this.#lines.length > MAX_LINES) this.#lines.splice(0, this.#lines.length - MAX_LINES);
  }

  /** The last lines, without what is secret. */
  lines(secrets: readonly string[]): readonly string[] {
    const last = this.#open.trim() === "" ? this.#lines : [...this.#lines, this.#open];
    return maskedText(last.slice(-MAX_LINES).join("\n").slice(-16_000), secrets, 16_384).split("\n").filter(Boolean);
  }
}
