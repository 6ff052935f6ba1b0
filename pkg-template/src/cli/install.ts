// `contextweaver install <agent>` and `uninstall <agent>`: what they write is shown first, and taken back to the byte.
import { existsSync } from "node:fs";
import process from "node:process";
import { nearest } from "../boundary/nearest.js";
import { FOLDER, made } from "./hook/folder.js";
import { apply, forget, planned, remember, remembered, takeBack, without } from "./install/changes.js";
import type { Planned } from "./install/changes.js";
import { PLANS, here } from "./install/plans.js";
import { UsageError, wholeNumber } from "./options.js";
import type { CommandLine } from "./options.js";
import { safe } from "./print.js";
import type { Printed } from "./print.js";

/** Installs for an agent. */
export async function installCommand(line: CommandLine): Promise<Printed> {
  const { values } = line;
  const agent = agentOf(line, "install");
  const record = recordOf(agent);
  if (existsSync(record))
    throw new UsageError(`it is installed for ${agent} already; contextweaver uninstall ${agent} takes it away`);
  wholeNumber(values, "result-tokens");
  const plan = PLANS[agent]?.({
    result_tokens: values["result-tokens"] as string | undefined,
    mask: values["mask"] === true,
  });
  const changes = (plan?.changes ?? []).flatMap((change) => planned(change) ?? []);
  if (!plan || changes.length === 0) return { text: `everything is there already for ${agent}\n`, code: 0 };
  const shown = changes.map(written).join("\n") + plan.notes.map((note) => `\n${note}`).join("");
  if (!(await isWanted(`${shown}\n`, values))) return { text: "nothing was written\n", code: 1 };
  made(here(FOLDER));
  // Remembered first: what is written from here on can be taken back.
  remember(
    record,
    changes.map((change) => change.made),
  );
  for (const change of changes) apply(change);
  return { text: `installed for ${agent}; contextweaver uninstall ${agent} takes it away\n`, code: 0 };
}

/** Takes back what was installed for an agent. */
export async function uninstallCommand(line: CommandLine): Promise<Printed> {
  const agent = agentOf(line, "uninstall");
  const record = recordOf(agent);
  const known = remembered(record);
  if (!known) throw new UsageError(`nothing is installed here for ${agent}: there is no ${record}`, "input");
  const plans = known.map((one) => ({ one, found: without(one) }));
  const shown = plans
    .map(({ one, found }) =>
      found
        ? `${found.after === undefined ? "removes" : "changes"} ${safe(one.file)}\n${lines("-", one.pieces.map(({ added }) => added).join("\n"))}`
        : `${safe(one.file)} is gone\n`,
    )
    .join("\n");
  if (!(await isWanted(shown, line.values))) return { text: "nothing was changed\n", code: 1 };
  for (const { one, found } of plans) if (found && found.after !== found.before) takeBack(one, found.after);
  const left = plans.flatMap(({ one, found }) =>
    (found?.left ?? []).map(
      (piece) =>
        `${safe(one.file)} was changed since; this is no longer in it as it was written:\n${lines(" ", piece)}`,
    ),
  );
  if (left.length > 0) return { text: `${left.join("\n")}remove it by hand, and ${safe(record)}\n`, code: 1 };
  forget(record);
  return { text: `uninstalled for ${agent}; stored results stay in ${FOLDER}\n`, code: 0 };
}

function agentOf({ files }: CommandLine, command: string): string {
  const [name, ...more] = files;
  const names = Object.keys(PLANS);
  if (name !== undefined && more.length === 0 && names.includes(name)) return name;
  const meant = name === undefined ? undefined : nearest(name, names);
  throw new UsageError(
    `${command} takes one of ${names.join(", ")}${meant === undefined ? "" : `; did you mean '${meant}'?`}`,
  );
}

/** What is remembered of an agent. */
function recordOf(agent: string): string {
  return `${here(FOLDER)}/install-${agent}.json`;
}

function written({ before, made: { file, pieces } }: Planned): string {
  return `${before === undefined ? "writes" : "changes"} ${safe(file)}\n${lines("+", pieces.map(({ added }) => added).join("\n"))}`;
}

function lines(mark: string, text: string): string {
  return text
    .split("\n")
    .filter((line) => !/^\s*,?\s*$/.test(line))
    .map((line) => `  ${mark} ${safe(line)}\n`)
    .join("");
}

/** Shows what is to be done, and asks; without a terminal only `--yes` says so. */
async function isWanted(shown: string, { yes }: CommandLine["values"]): Promise<boolean> {
  process.stdout.write(shown);
  if (yes === true) return true;
  if (process.stdin.isTTY !== true) throw new UsageError("nobody can be asked here; --yes does it without");
  process.stdout.write("Do this? [y/N] ");
  const decoder = new TextDecoder();
  for await (const chunk of process.stdin) return /^\s*y(?:es)?\s*$/i.test(decoder.decode(chunk));
  return false;
}
