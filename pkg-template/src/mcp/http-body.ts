// The body of a request, read as far as it may be: announced lengths are not believed, and what is aborted is not waited for.

/** The parts of a `Request` that its body is read by. */
export interface BodyRequest {
  readonly headers: { get(name: string): string | null };
  readonly body: {
    getReader(): {
      read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
      cancel(): Promise<void>;
    };
  } | null;
  readonly signal?: {
    readonly aborted: boolean;
    addEventListener?(type: "abort", listener: () => void): void;
    removeEventListener?(type: "abort", listener: () => void): void;
  };
}

/** Why a body was not read. @internal */
export class BodyError extends Error {
  readonly reason: "too_large" | "unreadable" | "aborted";

  constructor(reason: BodyError["reason"]) {
    super(reason);
    this.reason = reason;
  }
}

/** Returns the body as text; UTF-8 of at most so many bytes, or a {@link BodyError}. @internal */
export async function readBody({ headers, body, signal }: BodyRequest, max_bytes: number): Promise<string> {
  if (Number(headers.get("content-length") ?? 0) > max_bytes) throw new BodyError("too_large");
  const reader = body?.getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let size = 0;
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_, fail) => (stop = () => fail(new BodyError("aborted"))));
  // Where nobody waits for it any more.
  aborted.catch(() => undefined);
  if (signal?.aborted) stop();
  signal?.addEventListener?.("abort", stop);
  try {
    for (;;) {
      const read = reader && (await Promise.race([aborted, reader.read()]));
      if (signal?.aborted) throw new BodyError("aborted");
      if (!read || read.done) return text + decoder.decode();
      size += read.value?.length ?? 0;
      if (size > max_bytes) throw new BodyError("too_large");
      text += decoder.decode(read.value, { stream: true });
    }
  } catch (error) {
    // Not awaited: the source of an aborted body may never answer.
    reader?.cancel().catch(() => undefined);
    throw error instanceof BodyError ? error : new BodyError("unreadable");
  } finally {
    signal?.removeEventListener?.("abort", stop);
  }
}
