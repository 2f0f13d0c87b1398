/** The entry point of the single executable: the program, or one of its workers. */
import { setFlagsFromString } from "node:v8";
import { isWorkerOfExecutable } from "../src/program/worker-program.ts";

if (isWorkerOfExecutable()) {
  // What a worker that runs from files gets on its command line (src/workers/worker-process.ts), as far as V8 takes it
  // after its start.
  for (const flag of ["--semi-space-growth-factor=1", "--heap-growing-percent=100", "--single-threaded-gc"])
    setFlagsFromString(flag);
  void import("../src/app/worker.ts");
} else void import("../src/main.ts");
