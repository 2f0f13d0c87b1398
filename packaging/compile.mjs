/**
 * Makes V8's code cache of a bundle: `NODE --random-seed=1 packaging/compile.mjs BUNDLE FILE FLAG…`. FLAG are those of V8
 * that the bundle runs with. The cache contains the functions that run until all modules are loaded: the program starts
 * with a configuration that does not exist, and ends at once. Then nothing depends on time, and the bytes are the same
 * each time; for that the seed is fixed, and V8 keeps all functions.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { setFlagsFromString } from "node:v8";
import { Script } from "node:vm";

const load = createRequire(import.meta.url);

/** What the executable is for the bundle: `node:sea`, with the files of the package. */
const executable = { isSea: () => true, getAsset: (name) => readFileSync(new URL(`../${name}`, import.meta.url)) };

const [bundle, file, ...flags] = process.argv.slice(2);
/** What V8 does on other threads or by its own clock leaves traces in the cache: off until the cache is made. */
const timed = ["flush-bytecode", "opt", "maglev", "sparkplug"];
for (const flag of [...flags, ...timed.map((name) => `--no-${name}`)]) setFlagsFromString(flag);
const script = new Script(readFileSync(bundle, "latin1"), { filename: bundle });
process.once("exit", (code) => {
  // `serve` refuses the configuration with 2; a child process without a main process ends with 0.
  if (code === 1) return;
  // The flags are part of the cache: they must be those of the program.
  for (const name of timed) setFlagsFromString(`--${name}`);
  writeFileSync(file, script.createCachedData());
  process.exitCode = 0;
});
process.argv.splice(2, Infinity, "serve", "--config", "/dev/null/none.yaml");
script.runInThisContext()((name) => (name === "node:sea" ? executable : load(name)));
