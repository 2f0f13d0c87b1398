import type { CommandSpec } from "../../core/command/framework/command.ts";
import type { CommandAddition } from "../../core/command/framework/verbs.ts";
import { eventKinds } from "./event-kinds.ts";
import { auditAdditions } from "../../features/audit/commands.ts";
import { canaryCommands } from "../../features/canary/commands.ts";
import { fleetAdditions } from "../../features/fleet/commands.ts";
import { managementAdditions } from "../../features/gateway/commands.ts";
import { pastCommands } from "../../features/history/commands.ts";
import { incidentAdditions } from "../../features/replay/commands.ts";
import { restartAdditions, switchoverCommands } from "../../features/switchover/commands.ts";

/** Verbs and forms that features add to commands of others, in the order of the help. */
export const commandAdditions: readonly CommandAddition[] = [
  ...auditAdditions,
  ...fleetAdditions,
  ...incidentAdditions,
  ...restartAdditions,
  ...managementAdditions,
];

/** The commands of the features, by the group of the help that they belong to. */
export const featureCommands: { readonly look: readonly CommandSpec[]; readonly act: readonly CommandSpec[] } = {
  look: [...canaryCommands, ...pastCommands].map(withChoices),
  act: [...switchoverCommands].map(withChoices),
};

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
  look: ["status", "canaries", "check", "explain", "watch", "compare", "history", "incident"],
  act: ["drain", "switchover", "node", "cluster"],
};
