import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";
import { codeCacheFile, codeCacheFolder, readCodeCache, writeCodeCache } from "./code-cache.ts";

/**
 * The key in `globalThis` of the function that saves the cache. A bundle contains its own copy of this module: the copy
 * outside runs `runBundle`, and the one inside runs `saveCodeCache`. The two copies share no variables.
 */
const saveKey = Symbol.for("rolecall.saveCodeCache");

type Saving = typeof globalThis & { [saveKey]?: () => void };

/**
 * Runs a CommonJS bundle of packaging/bundle.mjs. Compiling it takes most of the time of a start, so V8's code cache of
 * an earlier start is used, if there is one that fits. V8 rejects one of another version or with other flags.
 * @param url the file of the bundle. Its code is one function, which takes `require` and this URL as parameters
 */
export function runBundle(url: URL): void {
  const path = fileURLToPath(url);
  // esbuild writes ASCII only. This encoding is read fastest.
  const source = readFileSync(path, "latin1");
  const folder = codeCacheFolder(process.env);
  const file =
    folder === null ? null : codeCacheFile(folder, { bundle: basename(path, ".cjs"), url: url.href, source });
  const cached = file === null ? null : readCodeCache(file, source);
  // Stack traces name ES modules by their URL, but scripts by `filename`. So the bundle gets its URL as `filename`:
  // own-frames.ts then recognises it too.
  const script = new Script(source, { filename: url.href, ...(cached === null ? {} : { cachedData: cached }) });
  const saving: Saving = globalThis;
  if (file !== null && (cached === null || script.cachedDataRejected === true))
    saving[saveKey] = () => writeCodeCache(file, source, script.createCachedData());
  script.runInThisContext()(createRequire(url), url.href);
}

/**
 * Saves the compiled code of the running bundle for the next start, if the cache holds none that fits. The saved code
 * covers the functions that have run, so this is called when the start is done. Takes some 50 ms, once.
 */
export function saveCodeCache(): void {
  const saving: Saving = globalThis;
  saving[saveKey]?.();
  delete saving[saveKey];
}
