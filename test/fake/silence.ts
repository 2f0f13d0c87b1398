import { pino, type Logger } from "pino";

/** A log that says nothing. */
export const silence: Logger = pino({ level: "silent" });
