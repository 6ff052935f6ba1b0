// Ends the programs of a gateway that was killed: no code of its own runs then, and some programs do not mind that their input
// ends. A shell waits for the end of a pipe from the gateway, which comes however the gateway ends.

/** A process that was started, as far as it is used here. */
interface Shell {
  readonly stdin?: {
    write(text: string): boolean;
    end(): void;
    unref?(): void;
    on(event: "error", then: () => void): void;
  };
  on(event: "error", then: () => void): void;
  unref(): void;
}
/** Starts one, as `node:child_process` does. */
export type SpawnShell = (command: string, args: readonly string[], options: object) => Shell;

/** Keeps a list of groups by the lines `+ 123` and `- 123`; at the end of its input it gives them a second, asks them, and ends them. */
const SCRIPT = `all=
while read -r sign group; do
  rest=
  for known in $all; do [ "$known" = "$group" ] || rest="$rest $known"; done
  all=$rest
  [ "$sign" = + ] && all="$all $group"
done
[ -z "$all" ] && exit
sleep 1
for group in $all; do kill -TERM "-$group" 2>/dev/null; done
sleep 1
for group in $all; do kill -KILL "-$group" 2>/dev/null; done`;

/** The groups that are to end with this process. There is a shell while there are groups. */
export class GroupWatch {
  readonly #spawn: SpawnShell;
  readonly #groups = new Set<number>();
  #shell: Shell | undefined;

  constructor(spawn: SpawnShell) {
    this.#spawn = spawn;
  }

  add(group: number): void {
    this.#groups.add(group);
    if (this.#shell === undefined) {
      const shell = this.#spawn("sh", ["-c", SCRIPT], { stdio: ["pipe", "ignore", "ignore"], detached: true });
      // Without a shell there is nobody who watches: the programs end with the gateway unless it is killed.
      shell.on("error", () => undefined);
      shell.stdin?.on("error", () => undefined);
      shell.stdin?.unref?.();
      shell.unref();
      this.#shell = shell;
    }
    this.#shell.stdin?.write(`+ ${group}\n`);
  }

  delete(group: number): void {
    if (!this.#groups.delete(group)) return;
    this.#shell?.stdin?.write(`- ${group}\n`);
    if (this.#groups.size > 0) return;
    this.#shell?.stdin?.end();
    this.#shell = undefined;
  }

  [Symbol.iterator](): Iterator<number> {
    return this.#groups.values();
  }
}
