// The results of a project in plain files: each in a session of its own, so that hooks that run at once do not meet.
import { fileStore } from "../../node.js";
import { made, resultsIn } from "./folder.js";
import { ProjectResults } from "./results.js";
import type { ProjectResultsOptions } from "./results.js";

/** Opens the results in the folder of a project. */
export function projectResults(folder: string, options: Omit<ProjectResultsOptions, "store">): ProjectResults {
  return new ProjectResults({ ...options, store: fileStore(resultsIn(made(folder))) });
}
