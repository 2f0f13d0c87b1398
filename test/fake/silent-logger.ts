import { pino, type Logger } from "pino";

/** A log that says nothing. */
export const silentLogger: Logger = pino({ level: "silent" });
