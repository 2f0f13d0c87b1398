/**
 * Bundles the source with esbuild: as modules for Node, as CommonJS files for the processes of the service, and as
 * CommonJS files for the single executable.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { build } from "esbuild";
import { onlyNeededParts, onlyService, rarelyNeeded, rarelyNeededPackages } from "./bundle-plugins.mjs";

const common = {
  bundle: true,
  platform: "node",
  target: "node20.18",
  metafile: true,
  legalComments: "none",
  logLevel: "warning",
  // Optional parts of pg that are not installed.
  external: ["pg-native"],
};

/** Of the bundles that src/core/program/cached-bundle.ts runs: each is a function of `require` and of its own URL. */
const serviceOptions = {
  format: "cjs",
  define: { "import.meta.url": "bundleUrl" },
  banner: { js: "(function (require, bundleUrl) {" },
  footer: { js: "})" },
  charset: "ascii",
  plugins: [onlyNeededParts, onlyService],
  sourcemap: true,
};

/** The processes that the main process starts. */
const children = { worker: "src/app/worker.ts", guardian: "src/app/registry/guardian.ts" };

/**
 * Writes the program for Node. The service is one CommonJS file with its packages, and so are the processes that it
 * starts: V8 can cache their code, and they start fast. Other commands are modules, and packages stay imports, as npm installs them.
 * @param {string} folder where to; what it holds is removed
 */
export async function bundleForNode(folder) {
  rmSync(folder, { recursive: true, force: true });
  const { metafile } = await build({
    ...common,
    packages: "external",
    format: "esm",
    splitting: true,
    entryPoints: {
      main: "packaging/main-entry.ts",
      "app/worker": "packaging/worker-entry.ts",
      "app/registry/guardian": "packaging/guardian-entry.ts",
    },
    chunkNames: "parts/[hash]",
    // For the coverage of programs that tests start; the package leaves the maps out.
    sourcemap: true,
    outdir: folder,
  });
  const services = await build({
    ...common,
    ...serviceOptions,
    plugins: [...serviceOptions.plugins, rarelyNeeded],
    entryPoints: { serve: "src/main.ts", ...children },
    outExtension: { ".js": ".cjs" },
    outdir: folder,
  });
  // Each of these is a file of its own: a service that does not need it does not read it.
  const packages = await build({
    ...common,
    format: "cjs",
    sourcemap: true,
    entryPoints: Object.fromEntries(Object.entries(rarelyNeededPackages).map(([name, { entry }]) => [name, entry])),
    outExtension: { ".js": ".cjs" },
    outdir: folder,
  });
  const files = [metafile, services.metafile, packages.metafile].flatMap(({ outputs }) => Object.keys(outputs));
  const code = files.filter((file) => /\.c?js$/.test(file));
  writeTable(join(folder, "modules.json"), code);
}

/**
 * Writes what the executable holds: `entry.cjs`, which runs one of the other bundles, and `modules.json`.
 * @param {string} folder where to
 */
export async function bundleExecutable(folder) {
  const options = { ...common, target: "node24", outdir: folder, outExtension: { ".js": ".cjs" } };
  // Code that runs from files only needs the URL of its module.
  const define = { "import.meta.url": "undefined" };
  await build({ ...options, format: "cjs", define, entryPoints: { entry: "packaging/executable-entry.ts" } });
  await build({
    ...options,
    ...serviceOptions,
    plugins: [onlyNeededParts],
    sourcemap: false,
    entryPoints: { main: "src/main.ts", ...children },
  });
  const bundles = ["main", ...Object.keys(children)].map((name) => join(folder, `${name}.cjs`));
  writeTable(join(folder, "modules.json"), bundles);
}

/**
 * Writes where the modules of bundled files begin: `src/core/program/own-frames.ts` needs it to find the module of a frame
 * of a stack. A module of a package has the name null.
 * @param {string} tableFile where to
 * @param {readonly string[]} files the bundled files
 */
function writeTable(tableFile, files) {
  const rows = files.toSorted().map((file) => [basename(file), moduleStarts(readFileSync(file, "utf8"))]);
  writeFileSync(tableFile, `${JSON.stringify(Object.fromEntries(rows))}\n`);
}

/** esbuild writes a comment with the name of each module before its code, at the beginning of a line. */
function moduleStarts(text) {
  const starts = [];
  for (const [index, line] of text.split("\n").entries()) {
    const [, path] = /^\/\/ ((?:src|node_modules|packaging)\/\S+)$/.exec(line) ?? [];
    if (path === undefined) continue;
    const own = /^src\/(.*)\.ts$/.exec(path)?.[1] ?? null;
    if (starts.length === 0 || starts.at(-1)[1] !== own) starts.push([index + 1, own]);
  }
  return starts;
}
