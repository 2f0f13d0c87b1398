/** The entry point of a worker process of the npm package. Its V8 flags are on its command line. */
import { runBundle } from "../src/core/program/cached-bundle.ts";

runBundle(new URL("../worker.cjs", import.meta.url));
