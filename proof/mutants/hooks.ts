/** Hooks of the module loader: mutated files come from another folder, and `node:test` is the harness. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { LoadHook, ResolveHook } from "node:module";
import { fileURLToPath } from "node:url";

/** Where the loader finds things, as URLs and paths that end with a slash. */
export interface HookPlaces {
  /** The compiled sources. */
  readonly built: string;
  /** The folder of the instrumented files, with the same layout. */
  readonly instrumented: string;
  readonly harness: string;
}

let places: HookPlaces = { built: "", instrumented: "", harness: "" };

/** Called by Node once, in the thread of the loader. */
export function initialize(given: HookPlaces): void {
  places = given;
}

/** @see `node:module` */
export const resolve: ResolveHook = (specifier, context, next) =>
  specifier === "node:test" && context.parentURL !== places.harness
    ? { url: places.harness, shortCircuit: true }
    : next(specifier, context);

/** @see `node:module` */
export const load: LoadHook = async (url, context, next) => {
  if (!url.startsWith(places.built)) return next(url, context);
  const file = fileURLToPath(new URL(url.slice(places.built.length), places.instrumented));
  if (!existsSync(file)) return next(url, context);
  return { format: "module", source: await readFile(file, "utf8"), shortCircuit: true };
};
