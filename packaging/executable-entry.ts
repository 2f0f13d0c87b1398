/** The entry point of the single executable: the program, or one of its workers. */
// First: V8 rejects a code cache that was made with other flags.
import "../src/cli/framework/v8-flags.ts";
import { setFlagsFromString } from "node:v8";
import { runEmbeddedBundle } from "../src/program/embedded-bundle.ts";
import { isWorkerOfExecutable } from "../src/program/worker-program.ts";

if (isWorkerOfExecutable()) {
  // With the flags above, what a worker that runs from files gets on its command line (src/workers/worker-process.ts),
  // as far as V8 takes it after its start.
  setFlagsFromString("--single-threaded-gc");
  runEmbeddedBundle("worker", require);
} else runEmbeddedBundle("main", require);
