import { pino } from "pino";
/** A log without output. */
export const silentLogger = pino({ level: "silent" });
//# sourceMappingURL=silent-logger.js.map