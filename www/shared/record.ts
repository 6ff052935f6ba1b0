// What the build of the page has recorded: answers of the same operations to the questions that the page asks first. While
// nothing else is asked, neither the modules nor the sample are fetched.

/** Answers by question. */
export type Record = Readonly<{ [question: string]: unknown }>;

/** A question as the record knows it. */
export const questionOf = (name: string, args: unknown): string => `${name} ${JSON.stringify(args)}`;

const LISTED = "context.rows";

let record: Record | undefined;
/** Answers what can be made of the record. */
let answerer: ((name: string, args: unknown) => unknown) | undefined;
let prepare: (() => Promise<void>) | undefined;
let preparing: Promise<void> | undefined;

/** Sets what is recorded, and what brings a worker to where the record is. */
export function remember(answers: Record | undefined): void {
  record = answers;
}

/** Sets what answers before the record is looked into, such as a list of which parts are asked for. */
export function answerWith(answer: (name: string, args: unknown) => unknown): void {
  answerer = answer;
}

export function prepareWith(run: () => Promise<void>): void {
  prepare = run;
}

/** Forgets it, since something else is loaded. */
export function forget(): void {
  record = undefined;
  prepare = undefined;
}

export const isReady = (): boolean => prepare === undefined;

/** Brings the worker to where the record is; a second try follows when the first failed. */
export function ready(): Promise<void> {
  if (!prepare) return Promise.resolve();
  preparing ??= prepare()
    .then(forget)
    .finally(() => (preparing = undefined));
  return preparing;
}

/** The answer to a question, if it is recorded. */
export function recorded(name: string, args: unknown): unknown {
  const made = answerer?.(name, args);
  if (made !== undefined) return made;
  if (!record) return undefined;
  if (name !== LISTED) return record[questionOf(name, args)];
  const { from, to, ...rest } = args as { from: number; to: number };
  const all = record[questionOf(name, rest)] as { total: number; rows: readonly unknown[] } | undefined;
  return all && { total: all.total, rows: all.rows.slice(Math.max(0, from), to) };
}
