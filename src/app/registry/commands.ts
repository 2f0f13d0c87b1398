import type { CommandSpec } from "../../command/framework/command.ts";
import { auditCommands } from "../../features/audit/commands.ts";
import { fleetCommands } from "../../features/fleet/commands.ts";

/** The commands of the features, by the group of the help that they belong to. */
export const featureCommands: { readonly look: readonly CommandSpec[] } = {
  look: [...auditCommands, ...fleetCommands],
};

/** The order of the commands that look, in the help. */
export const lookOrder: readonly string[] = [
  "status",
  "pools",
  "verify",
  "fleet",
  "check",
  "explain",
  "watch",
  "compare",
  "history",
  "incident",
];
