import { drainCommands } from "./drains.js";
import { managementCommands } from "./management.js";
import { rehearsalCommands } from "./rehearsals.js";
import { serviceCommands } from "./services.js";
import { contextCommands } from "./contexts.js";
import { completeCommand } from "./complete.js";
import { setupCommands } from "./setup.js";
import { toolCommands } from "./tools.js";
import { pastCommands } from "./past.js";
import { inspectionCommands } from "./inspection.js";
/** Every command, in the order in which help lists them. */
export const commands = [
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
export const hiddenCommands = [completeCommand];
//# sourceMappingURL=commands.js.map