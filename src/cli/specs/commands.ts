import type { CommandSpec } from "../framework/command.ts";
import { drainCommands } from "./drains.ts";
import { managementCommands } from "./management.ts";
import { rehearsalCommands } from "./rehearsals.ts";
import { serviceCommands } from "./services.ts";
import { contextCommands } from "./contexts.ts";
import { completeCommand } from "./complete.ts";
import { setupCommands } from "./setup.ts";
import { toolCommands } from "./tools.ts";
import { pastCommands } from "./past.ts";
import { inspectionCommands } from "./inspection.ts";

/** Every command, in the order in which help lists them. */
export const commands: readonly CommandSpec[] = [
  ...serviceCommands,
  ...inspectionCommands,
  ...pastCommands,
  ...drainCommands,
  ...managementCommands,
  ...rehearsalCommands,
  ...setupCommands,
  ...contextCommands,
  ...toolCommands,
];

/** Commands that other programs run; help and completion do not list them. */
export const hiddenCommands: readonly CommandSpec[] = [completeCommand];
