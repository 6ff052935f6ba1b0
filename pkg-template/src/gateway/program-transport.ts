// A program that speaks MCP on its standard input and output, with everything that it starts: `sh -c`, `npx` and `uv run` start
// another program, which would outlive them. It runs in a process group of its own, and the whole group is ended.
import { readsNumbers, withNumbers } from "../boundary/exact-numbers.js";
import { GroupWatch } from "./group-watch.js";
import type { RpcMessage, SdkTransport } from "./sdk.js";

/** How a program is started. */
interface ProgramParameters {
  readonly command: string;
  readonly args: readonly string[];
  /** All variables that it is given. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly stderr?: "pipe" | "ignore";
  /** Bytes of one message. */
  readonly maxBufferSize: number;
}

/** What is used of `node:child_process` and `process`. */
interface Readable {
  on(event: "data", then: (chunk: Uint8Array) => void): void;
  on(event: "error", then: (error: Error) => void): void;
  destroy(): void;
}
interface Child {
  readonly pid?: number;
  /** Not there where nothing could be started. */
  readonly stdin?: {
    write(text: string, done?: (error?: Error | null) => void): boolean;
    end(): void;
    unref?(): void;
    on(event: "error", then: (error: Error) => void): void;
  };
  readonly stdout?: Readable;
  readonly stderr?: Readable | null;
  once(event: "spawn" | "close", then: () => void): void;
  once(event: "exit", then: (code: number | null, signal: string | null) => void): void;
  on(event: "error", then: (error: Error) => void): void;
  unref(): void;
}
interface NodeProcesses {
  spawn(command: string, args: readonly string[], options: object): Child;
  kill(pid: number, signal: string | number): void;
  onexit(then: () => void): void;
}
/** The reader of the SDK. */
export interface MessageReader {
  append(chunk: Uint8Array): void;
  readMessage(): RpcMessage | null;
  clear(): void;
}

/** Milliseconds that a program has to end by itself, and then after it was told to; clients give the gateway 4 seconds. */
const GRACE_MS = 1_000;
const POLL_MS = 25;

/** What Node has of processes; nothing where there is no such thing as a group of them, or no process at all. */
function nodeProcesses(): NodeProcesses | undefined {
  const { process } = globalThis as { readonly process?: NodeProcess };
  if (process === undefined || process.platform === "win32") return undefined;
  const { spawn } = (process.getBuiltinModule?.("node:child_process") ?? {}) as Partial<Pick<NodeProcesses, "spawn">>;
  return (
    spawn && { spawn, kill: (pid, signal) => process.kill(pid, signal), onexit: (then) => process.once("exit", then) }
  );
}

interface NodeProcess {
  readonly platform: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  getBuiltinModule?(name: string): object | undefined;
  kill(pid: number, signal: string | number): void;
  once(event: "exit", then: () => void): void;
}

/** Variables that programs are given where this runs. */
export function inheritedHere(): Record<string, string> {
  return inherited((globalThis as { readonly process?: NodeProcess }).process?.env ?? {});
}

type ProgramTransports = new (parameters: ProgramParameters) => SdkTransport;
const made = new Map<object, ProgramTransports>();

/** The class of transports for programs that are read by `Reader`; nothing where there are no groups of processes. */
export function programTransport(
  Reader: (new (options: object) => MessageReader) | undefined,
): ProgramTransports | undefined {
  const known = Reader && made.get(Reader);
  const processes = known || !Reader ? undefined : nodeProcesses();
  if (!Reader || !processes) return known;
  const transports = programTransports(processes, Reader);
  made.set(Reader, transports);
  return transports;
}

/** How the program of a transport ended, as words; nothing where it runs, or where nobody knows. */
export function endOf(transport: object): string | undefined {
  return (transport as { readonly ended?: string }).ended;
}

/** Makes the class of transports that start programs by `processes` and read them by `Reader`. */
function programTransports(
  processes: NodeProcesses,
  Reader: new (options: object) => MessageReader,
): ProgramTransports {
  /** Groups that are not known to have ended. */
  const groups = new GroupWatch(processes.spawn);
  // Whatever ends the gateway, nothing that it has started goes on.
  processes.onexit(() => {
    for (const group of groups) signal(group, "SIGKILL");
  });

  /** Signals a group. Returns whether somebody is in it. */
  function signal(group: number, name: string | number): boolean {
    try {
      processes.kill(-group, name);
      return true;
    } catch (error) {
      // ESRCH: nobody is left in it.
      return (error as { code?: string }).code === "EPERM";
    }
  }

  async function hasEnded(group: number, milliseconds: number): Promise<boolean> {
    for (let waited = 0; signal(group, 0); waited += POLL_MS) {
      if (waited >= milliseconds) return false;
      await new Promise((done) => setTimeout(done, POLL_MS));
    }
    return true;
  }

  return class ProgramTransport implements SdkTransport {
    onmessage?: (message: RpcMessage) => void;
    onclose?: () => void;
    onerror?: (error: Error) => void;
    /** As the SDK's own has it: a program is asked for its era on a copy that is made with these. */
    readonly _serverParams: ProgramParameters;
    readonly stderr: { on(event: string, then: (chunk: Uint8Array) => void): void };
    readonly #reader: MessageReader;
    readonly #listeners: ((chunk: Uint8Array) => void)[] = [];
    #child: Child | undefined;
    #ending: Promise<void> | undefined;
    #isClosed = false;
    ended: string | undefined;

    constructor(parameters: ProgramParameters) {
      this._serverParams = parameters;
      this.#reader = new Reader({ maxBufferSize: parameters.maxBufferSize });
      readsNumbers(this.#reader);
      this.stderr = { on: (event, then) => void (event === "data" && this.#listeners.push(then)) };
    }

    get pid(): number | null {
      return this.#child?.pid ?? null;
    }

    async start(): Promise<void> {
      const { command, args, env, cwd, stderr = "pipe" } = this._serverParams;
      const child = processes.spawn(command, args, { env, cwd, stdio: ["pipe", "pipe", stderr], detached: true });
      this.#child = child;
      const { pid } = child;
      if (pid !== undefined) groups.add(pid);
      child.stdin?.on("error", (error) => this.onerror?.(error));
      child.stdout?.on("error", (error) => this.onerror?.(error));
      child.stdout?.on("data", (chunk) => this.#read(chunk));
      child.stderr?.on("data", (chunk) => this.#listeners.forEach((then) => then(chunk)));
      child.stderr?.on("error", () => undefined);
      // What it has written is read to its end, unless somebody whom it has started keeps its output open.
      child.once("close", () => this.#closed());
      child.once("exit", (code, signal) => {
        this.ended =
          signal === null ? `the program ended with exit code ${code}` : `the program was ended by ${signal}`;
        setTimeout(() => this.#closed(), GRACE_MS);
      });
      await new Promise<void>((started, failed) => {
        child.once("spawn", () => started());
        child.on("error", (error) => {
          failed(error);
          this.onerror?.(error);
        });
      });
    }

    #read(chunk: Uint8Array): void {
      try {
        this.#reader.append(chunk);
      } catch (error) {
        this.onerror?.(error as Error);
        void this.close();
        return;
      }
      for (;;) {
        try {
          const message = this.#reader.readMessage();
          if (message === null) return;
          this.onmessage?.(message);
        } catch (error) {
          this.onerror?.(error as Error);
        }
      }
    }

    send(message: RpcMessage): Promise<void> {
      const { stdin } = this.#child ?? {};
      if (stdin === undefined || this.#isClosed) return Promise.reject(new Error("Not connected"));
      // It is about to be told that the program has ended, and why.
      const later = (error: Error, failed: (error: Error) => void): void =>
        void setTimeout(() => failed(new Error("Not connected", { cause: error })), GRACE_MS);
      return new Promise(
        (sent, failed) =>
          void stdin.write(`${withNumbers(JSON.stringify(message))}\n`, (error) =>
            error ? later(error, failed) : sent(),
          ),
      );
    }

    /** Resolves when all have ended. */
    close(): Promise<void> {
      this.#ending ??= this.#end(GRACE_MS);
      return this.#ending;
    }

    /** By which the SDK ends the copy. */
    async _dispose(): Promise<void> {
      this.#ending ??= this.#end(0);
      await this.#ending;
    }

    /** Tells the gateway that the program is gone, and ends what it has left behind. */
    #closed(): void {
      if (this.#isClosed) return;
      this.#isClosed = true;
      this.#ending ??= this.#end(0);
      this.onclose?.();
    }

    async #end(grace_ms: number): Promise<void> {
      const child = this.#child;
      const { pid } = child ?? {};
      child?.stdin?.end();
      if (pid !== undefined) {
        const isOver =
          (await hasEnded(pid, grace_ms)) ||
          (signal(pid, "SIGTERM"), await hasEnded(pid, GRACE_MS)) ||
          (signal(pid, "SIGKILL"), await hasEnded(pid, GRACE_MS));
        if (isOver) groups.delete(pid);
      }
      child?.stdout?.destroy();
      child?.stderr?.destroy();
      this.#reader.clear();
      this.#closed();
    }
  };
}

/** Variables that a program is given of the gateway's own, beside those of its entry: what every program needs and no credential. */
const INHERITED =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|TERM|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|TMP|TEMP|XDG_[A-Z_]+|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|(?:https?|no|all)_proxy|(?:HTTPS?|NO|ALL)_PROXY|NODE_EXTRA_CA_CERTS|SSL_CERT_(?:FILE|DIR)|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|APPDATA|COMSPEC|HOMEDRIVE|HOMEPATH|LOCALAPPDATA|PATHEXT|PROCESSOR_ARCHITECTURE|PROGRAMDATA|PROGRAMFILES(?:\(X86\))?|PROGRAMW6432|SYSTEMDRIVE|SYSTEMROOT|USERNAME|USERPROFILE|WINDIR)$/;

/** The variables of an environment that programs are given. */
export function inherited(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const given = Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined);
  // A function of a shell is no setting.
  return Object.fromEntries(given.filter(([name, value]) => INHERITED.test(name) && !value.startsWith("()")));
}

/** What programs look for in their environment to know who they are: services, tokens, profiles. */
const CREDENTIALS =
  /^(?:AWS|AZURE|GOOGLE|GCP|CLOUDSDK|GITHUB|GH|GITLAB|OPENAI|ANTHROPIC|NPM|DOCKER|KUBE|PG|MYSQL|MONGODB?|REDIS|SLACK|NOTION|HF)_|^(?:KUBECONFIG|DATABASE_URL|SSH_AUTH_SOCK|PG[A-Z]+)$|_(?:TOKEN|KEY|SECRET|PASSWORD|PROFILE|CREDENTIALS)$/;

/** Names of variables of an environment that programs may look for, and are not given. */
export function notPassed(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.keys(environment)
    .filter(
      (name) =>
        environment[name] !== undefined &&
        CREDENTIALS.test(name) &&
        !name.startsWith("CONTEXTWEAVER_") &&
        !INHERITED.test(name),
    )
    .sort();
}
