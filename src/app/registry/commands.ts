import type { CommandSpec } from "../../core/command/framework/command.ts";
import { type CommandVerbs, withVerbs } from "../../core/command/framework/verbs.ts";
import { eventKinds } from "./event-kinds.ts";
import { auditCommands } from "../../features/audit/commands.ts";
import { canaryCommands } from "../../features/canary/commands.ts";
import { fleetCommands } from "../../features/fleet/commands.ts";
import { managementCommands } from "../../features/gateway/commands.ts";
import { pastCommands } from "../../features/history/commands.ts";
import { incidentVerbs } from "../../features/replay/commands.ts";
import { switchoverCommands } from "../../features/switchover/commands.ts";

/** Verbs that features add to commands of others. */
const addedVerbs: readonly CommandVerbs[] = [incidentVerbs];

/** The commands of the features, by the group of the help that they belong to. */
export const featureCommands: { readonly look: readonly CommandSpec[]; readonly act: readonly CommandSpec[] } = {
  look: [...auditCommands, ...canaryCommands, ...fleetCommands, ...pastCommands].map(withAdded),
  act: [...switchoverCommands, ...managementCommands].map(withAdded),
};

function withAdded(command: CommandSpec): CommandSpec {
  return addedVerbs.filter((added) => added.of === command.name).reduce(withVerbs, withChoices(command));
}

/** Gives options the values that only the registries know. */
function withChoices(command: CommandSpec): CommandSpec {
  if (!command.options.some(({ choicesOf }) => choicesOf !== undefined)) return command;
  const options = command.options.map((option) =>
    option.choicesOf === undefined ? option : { ...option, choices: eventKinds },
  );
  return { ...command, options };
}

/** The order of the commands in the help, by their group. */
export const commandOrder: { readonly look: readonly string[]; readonly act: readonly string[] } = {
  look: [
    "status",
    "pools",
    "verify",
    "canaries",
    "fleet",
    "check",
    "explain",
    "watch",
    "compare",
    "history",
    "incident",
  ],
  act: [
    "drain",
    "distrust",
    "trust",
    "undrain",
    "drains",
    "switchover",
    "failover",
    "restart",
    "reload",
    "reinitialize",
    "config",
  ],
};
