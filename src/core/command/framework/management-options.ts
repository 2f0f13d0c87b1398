import type { OptionSpec } from "./command-description.ts";

/** Options and words of the commands that change a cluster through its management API. */
export const yesOption: OptionSpec = {
  name: "yes",
  short: "y",
  help: "do not ask for confirmation (for scripts)",
};

/** Nothing is changed. */
export const dryRunOption: OptionSpec = {
  name: "dry-run",
  help: "report what would happen, without doing it; exit code 1 if it would be refused",
};

/** Whom such a command calls, for its description. */
export const viaGateway: string =
  "\nThe call goes through the management gateway of a running rolecall (listener option management).";
