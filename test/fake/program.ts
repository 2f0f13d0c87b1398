/** The program that tests start as a process of its own. */
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..", "..");

/**
 * The absolute path of `main.js`: the built program, which starts in a third of the time of its modules. The modules
 * while coverage is counted, which counts by source file.
 */
export const program =
  process.env["NODE_V8_COVERAGE"] === undefined ? join(root, "dist", "main.js") : join(root, "build", "src", "main.js");
