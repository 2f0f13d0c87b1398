import { pino, type Logger } from "pino";

/** A log without output. */
export const silentLogger: Logger = pino({ level: "silent" });
