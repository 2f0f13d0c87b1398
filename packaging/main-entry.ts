#!/usr/bin/env node
/** The entry point of the npm package: the bundle of the service, or the modules for every other command. */
// First: V8 rejects a code cache that was made with other flags.
import "../src/core/command/framework/v8-flags.ts";
import { runBundle } from "../src/core/program/cached-bundle.ts";

if (process.argv[2] === "serve") runBundle(new URL("serve.cjs", import.meta.url));
else void import("../src/main.ts");
