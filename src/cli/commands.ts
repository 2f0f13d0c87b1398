import type { CommandSpec } from "./command.ts";
import { operatingCommands } from "./table/operating.ts";
import { managementCommands } from "./table/management.ts";
import { serviceCommands } from "./table/services.ts";
import { setupCommands } from "./table/setup.ts";
import { toolCommands } from "./table/tools.ts";
import { watchingCommands } from "./table/watching.ts";

/** Every command, in the order of help. */
export const commands: readonly CommandSpec[] = [
  ...serviceCommands,
  ...watchingCommands,
  ...operatingCommands,
  ...managementCommands,
  ...setupCommands,
  ...toolCommands,
];
