import * as fc from "fast-check";

/**
 * The seed of all property tests of a process: fixed, so that two runs of the same code check the same cases.
 * `PROPERTY_SEED` sets another one, and `PROPERTY_SEED=random` a new one for each property.
 */
const seed = process.env["PROPERTY_SEED"] ?? "1";

if (seed !== "random") fc.configureGlobal({ seed: Number(seed) });
