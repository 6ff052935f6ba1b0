// What others are told without being waited for: telemetry, and callbacks of whoever uses the package.

/** Runs what is not ours, whose failure is none of what it is about. @internal */
export function quietly(run: () => void): void {
  try {
    run();
  } catch {
    // Its own affair.
  }
}
