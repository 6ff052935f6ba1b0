// The little of Node that the command line program and `contextweaver/node` use. Declared here so that the facade is compiled without Node's
// types and cannot come to depend on them.

declare module "node:fs" {
  /** Windows has no `O_NOFOLLOW`. */
  export const constants: {
    O_APPEND: number;
    O_CREAT: number;
    O_EXCL: number;
    O_NOFOLLOW?: number;
    O_RDONLY: number;
    O_RDWR: number;
    O_WRONLY: number;
  };
  export function readFileSync(path: string | URL | number): Uint8Array<ArrayBuffer>;
  export function statSync(
    path: string,
    options: { throwIfNoEntry: false },
  ): { readonly size: number; readonly mode: number; isDirectory(): boolean } | undefined;
  export function realpathSync(path: string): string;
  export function appendFileSync(path: string, data: string): void;
  export function existsSync(path: string): boolean;
  export function rmdirSync(path: string): void;
  export function readdirSync(
    path: string,
    options: { withFileTypes: true },
  ): { readonly name: string; isFile(): boolean; isDirectory(): boolean }[];
  export function mkdirSync(path: string, options: { recursive: boolean }): void;
  export function writeFileSync(
    path: string | number,
    data: Uint8Array | string,
    options?: { flag: "wx"; mode?: number },
  ): void;
  export function openSync(path: string, flags: "w", mode: number): number;
  export function fsyncSync(file: number): void;
  export function closeSync(file: number): void;
  export function renameSync(from: string, to: string): void;
  export function unlinkSync(path: string): void;
  export function chmodSync(path: string, mode: number): void;
}

declare module "node:child_process" {
  interface Child {
    on(event: "error", then: (error: { code?: string }) => void): void;
    on(event: "close", then: (code: number | null, signal: string | null) => void): void;
    kill(signal: string): boolean;
    unref(): void;
  }
  export function spawn(
    program: string,
    args: readonly string[],
    options: { stdio: "ignore"; detached: boolean },
  ): Child;
  export function spawnSync(
    program: string,
    args: readonly string[],
    options: { stdio: "ignore"; timeout: number },
  ): { readonly status: number | null };
  export function spawn(
    program: string,
    args: readonly string[],
    options: { stdio: "inherit"; env: Readonly<Record<string, string | undefined>>; shell?: boolean },
  ): Child;
}

declare module "node:fs/promises" {
  interface Handle {
    read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
    write(buffer: Uint8Array, offset: number, length: number): Promise<{ bytesWritten: number }>;
    stat(): Promise<{ size: number; mtimeMs: number }>;
    sync(): Promise<void>;
    close(): Promise<void>;
  }
  export function open(path: string, flags: string | number, mode?: number): Promise<Handle>;
  export function mkdir(path: string, options: { recursive: boolean; mode?: number }): Promise<string | undefined>;
  export function readdir(path: string): Promise<string[]>;
  export function rename(from: string, to: string): Promise<void>;
  export function rm(path: string, options: { recursive: true; force: true }): Promise<void>;
  export function stat(path: string): Promise<{ size: number }>;
  export function lstat(path: string): Promise<{ size: number; isSymbolicLink(): boolean; isDirectory(): boolean }>;
}

declare module "node:worker_threads" {
  export const isMainThread: boolean;
  /** Null on the first thread. */
  export const parentPort: {
    postMessage(value: unknown): void;
    on(event: "message", then: (value: never) => void): void;
  } | null;
  export class Worker {
    constructor(program: URL, options: { argv: readonly string[] });
    postMessage(value: unknown): void;
    on(event: "message", then: (value: unknown) => void): void;
    on(event: "error", then: (error: unknown) => void): void;
    terminate(): Promise<number>;
  }
}

declare module "node:zlib" {
  export function crc32(bytes: Uint8Array): number;
}

declare module "node:util" {
  interface Option {
    type: "string" | "boolean";
    short?: string;
    multiple?: boolean;
  }
  export function parseArgs(config: {
    args: readonly string[];
    options: Record<string, Option>;
    allowPositionals: boolean;
  }): { values: Record<string, string | boolean | (string | boolean)[] | undefined>; positionals: string[] };
}

declare module "node:process" {
  interface Output {
    readonly isTTY?: boolean;
    readonly columns?: number;
    write(text: string): boolean;
    on(event: "error", listener: (error: { code?: string }) => void): void;
  }
  const process: {
    readonly stdin: AsyncIterable<Uint8Array<ArrayBuffer>> & {
      readonly isTTY?: boolean;
      once(event: "end" | "close", then: () => void): void;
    };
    once(event: "SIGINT" | "SIGTERM" | "SIGHUP", then: () => void): void;
    on(event: "SIGINT" | "SIGTERM" | "SIGHUP", then: () => void): void;
    readonly stdout: Output;
    readonly stderr: Output;
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly pid: number;
    readonly execPath: string;
    readonly execArgv: readonly string[];
    readonly argv: readonly string[];
    readonly versions: Readonly<Record<string, string | undefined>>;
    readonly allowedNodeEnvironmentFlags: ReadonlySet<string>;
    cwd(): string;
    readonly platform: string;
    exit(code: number): never;
    kill(pid: number, signal: 0): void;
  };
  export default process;
}

declare module "node:os" {
  export function availableParallelism(): number;
  export function homedir(): string;
  export const constants: { readonly signals: Readonly<Record<string, number | undefined>> };
}

declare module "node:url" {
  export function fileURLToPath(url: URL): string;
}

declare module "node:http" {
  /** A request that came in. */
  export interface Incoming extends AsyncIterable<Uint8Array> {
    readonly method?: string;
    readonly url?: string;
    readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
    /** Names and values in turn, as they came. */
    readonly rawHeaders: readonly string[];
  }
  /** The answer to it. */
  export interface Outgoing {
    readonly destroyed: boolean;
    readonly headersSent: boolean;
    writeHead(status: number, headers: Readonly<Record<string, string | readonly string[]>>): void;
    flushHeaders(): void;
    write(chunk: Uint8Array | undefined): boolean;
    end(chunk?: Uint8Array): void;
    destroy(): void;
    on(event: "close", then: () => void): void;
    once(event: "drain" | "close", then: () => void): void;
  }
  interface Server {
    keepAliveTimeout: number;
    listen(port: number, host: string, then: () => void): void;
    address(): { readonly port: number };
    on(event: "error", then: (error: { code?: string }) => void): void;
    close(): void;
    unref(): void;
  }
  export function createServer(answer: (incoming: Incoming, outgoing: Outgoing) => void): Server;
  const http: {
    /** From Node 24.14 on. */
    setGlobalProxyFromEnv?(env: Readonly<Record<string, string | undefined>>): void;
  };
  export default http;
}

declare module "node:net" {
  export interface Socket {
    on(event: "error", then: (error: Error) => void): void;
    on(event: "data", then: (part: Uint8Array) => void): void;
    on(event: "end" | "close", then: () => void): void;
    end(text: string): void;
    destroy(error?: Error): void;
  }
  interface Server {
    on(event: "error", then: (error: Error) => void): void;
    listen(path: string, then: () => void): void;
    unref(): void;
  }
  export function createConnection(path: string): Socket;
  export function createServer(options: { allowHalfOpen: boolean }, then: (socket: Socket) => void): Server;
}

declare module "node:v8" {
  export function setFlagsFromString(flags: string): void;
}

declare module "node:module" {
  const module: { enableCompileCache?(): void };
  export default module;
}

declare module "node:timers" {
  export function setImmediate(run: () => void): void;
}
