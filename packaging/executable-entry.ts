/** The entry point of the single executable: the program, or one of the processes that it starts. */
// First: V8 rejects a code cache that was made with other flags.
import "../src/core/command/framework/v8-flags.ts";
import { setFlagsFromString } from "node:v8";
import { runEmbeddedBundle } from "../src/core/program/embedded-bundle.ts";
import { childKindOfExecutable } from "../src/core/program/child-program.ts";

const kind = childKindOfExecutable();
// With the flags above, what a worker that runs from files gets on its command line (src/core/workers/worker-process.ts), as
// far as V8 takes it after its start.
if (kind === "worker") setFlagsFromString("--single-threaded-gc");
runEmbeddedBundle(kind ?? "main", require);
