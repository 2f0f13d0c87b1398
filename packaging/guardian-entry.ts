/** The entry point of a guardian process of the npm package. */
import { runBundle } from "../src/core/program/cached-bundle.ts";

runBundle(new URL("../../guardian.cjs", import.meta.url));
