import type { CommandSpec } from "../../command/framework/command.ts";
import { auditCommands } from "../../features/audit/commands.ts";
import { fleetCommands } from "../../features/fleet/commands.ts";
import { managementCommands } from "../../features/gateway/commands.ts";
import { pastCommands } from "../../features/history/commands.ts";
import { switchoverCommands } from "../../features/switchover/commands.ts";

/** The commands of the features, by the group of the help that they belong to. */
export const featureCommands: { readonly look: readonly CommandSpec[]; readonly act: readonly CommandSpec[] } = {
  look: [...auditCommands, ...fleetCommands, ...pastCommands],
  act: [...switchoverCommands, ...managementCommands],
};

/** The order of the commands in the help, by their group. */
export const commandOrder: { readonly look: readonly string[]; readonly act: readonly string[] } = {
  look: ["status", "pools", "verify", "fleet", "check", "explain", "watch", "compare", "history", "incident"],
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
