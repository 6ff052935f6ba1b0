// What the page was opened with: a file of the program that serves it, which is there for as long as the program runs.

/** The same, not read yet. */
export interface GivenFile {
  readonly name: string;
  readonly file: Blob;
  /** The format to read it in, where the file does not tell. */
  readonly as?: string;
}

export interface Brought {
  readonly name: string;
  /** Again and again: a reload finds it, too. */
  readonly load: () => Promise<GivenFile>;
}

/** The file that the page was opened with, if it was opened with one. */
export function brought(): Brought | undefined {
  // The build draws the page where there is no document.
  if (typeof document === "undefined") return undefined;
  const name = document.querySelector<HTMLMetaElement>('meta[name="contextweaver-file"]')?.content;
  if (name === undefined) return undefined;
  return {
    name,
    load: async () => {
      const response = await fetch(new URL(`./file`, import.meta.url));
      if (!response.ok) throw new Error(`the program that serves it answered ${response.status}`);
      return { name, file: await response.blob() };
    },
  };
}
