import type { CommandSpec } from "../framework/command.ts";
import { operatingCommands } from "./operating.ts";
import { managementCommands } from "./management.ts";
import { serviceCommands } from "./services.ts";
import { setupCommands } from "./setup.ts";
import { toolCommands } from "./tools.ts";
import { watchingCommands } from "./watching.ts";

/** Every command, in the order of help. */
export const commands: readonly CommandSpec[] = [
  ...serviceCommands,
  ...watchingCommands,
  ...operatingCommands,
  ...managementCommands,
  ...setupCommands,
  ...toolCommands,
];
