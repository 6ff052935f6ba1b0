// Opens an address in the browser of who runs the program.
import { spawn } from "node:child_process";
import process from "node:process";

/** The program that opens addresses, by system; elsewhere it is that of freedesktop.org. */
const OPENERS: Readonly<Record<string, readonly [program: string, ...args: string[]]>> = {
  darwin: ["open"],
  // Not `cmd /c start`, which would read `&` in an address as its own.
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Asks the system to open an address. Where it cannot, nothing happens: the address has been printed, too. */
export function openBrowser(address: string): void {
  const [program, ...args] = OPENERS[process.platform] ?? ["xdg-open"];
  const child = spawn(program, [...args, address], { stdio: "ignore", detached: true });
  child.on("error", () => undefined);
  child.unref();
}
