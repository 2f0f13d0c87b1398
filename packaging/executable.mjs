/**
 * Makes the single executable: `node packaging/executable.mjs NODE FILE`. NODE is the binary of Node 24 that it runs on.
 * Reproducible: the same source, packages and NODE give the same bytes.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { bundleExecutable } from "./bundle.mjs";
import { filesIn } from "./page.mjs";

/** Node finds the blob by this text, which is followed by whether there is one. */
const fuse = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

/** The files of the package that the program reads at run time (src/core/program/program-files.ts). */
const assets = [
  "package.json",
  "dist/commit.txt",
  "deploy/grafana/rolecall.json",
  "deploy/prometheus/rolecall-rules.yml",
];
assets.push(...(await filesIn("dist/web")).map((name) => `dist/web/${name}`));

const heapFlags = ["--semi-space-growth-factor=1", "--heap-growing-percent=100"];
/** The bundles of executable-entry.ts, and the flags of V8 that it sets before it runs them. */
const bundles = { main: heapFlags, worker: [...heapFlags, "--single-threaded-gc"], guardian: heapFlags };

function run(node, folder, args) {
  // An environment of its own, because the program reads variables while it is compiled.
  execFileSync(node, args, { cwd: folder, env: {}, stdio: ["ignore", "ignore", "pipe"] });
}

/** @returns {number} the major version of a Node binary */
function majorOf(node) {
  return Number(execFileSync(node, ["-p", "process.versions.node.split('.')[0]"], { encoding: "utf8" }));
}

/**
 * Writes the blob that the executable holds: the bundled program and its assets.
 * @param {string} node the Node binary, whose version the blob is for
 * @param {string} folder a scratch folder
 * @returns {Promise<string>} the file
 */
async function writeBlob(node, folder) {
  await bundleExecutable(folder);
  const compiled = Object.entries(bundles).flatMap(([name, flags]) => {
    const [bundle, cache] = [`${name}.cjs`, `${name}.cache`];
    // A fixed seed: otherwise V8's code cache differs each time.
    run(node, folder, ["--random-seed=1", resolve("packaging/compile.mjs"), bundle, cache, ...flags]);
    return [bundle, cache];
  });
  const files = Object.fromEntries(assets.map((name) => [name, resolve(name)]));
  const configuration = {
    // Relative, because the blob holds this path.
    main: "entry.cjs",
    output: "rolecall.blob",
    disableExperimentalSEAWarning: true,
    assets: {
      ...files,
      ...Object.fromEntries(compiled.map((name) => [name, name])),
      "dist/modules.json": "modules.json",
    },
  };
  writeFileSync(join(folder, "sea.json"), JSON.stringify(configuration));
  run(node, folder, ["--experimental-sea-config", "sea.json"]);
  return join(folder, "rolecall.blob");
}

/** Copies the Node binary and puts the blob into it. */
function inject(node, blob, file) {
  mkdirSync(dirname(file), { recursive: true });
  rmSync(file, { force: true });
  copyFileSync(node, file);
  const postject = createRequire(import.meta.url).resolve("postject/dist/cli.js");
  execFileSync(process.execPath, [postject, file, "NODE_SEA_BLOB", blob, "--sentinel-fuse", fuse], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  chmodSync(file, 0o755);
}

const [node = "", file = ""] = process.argv.slice(2);
if (file === "") throw new Error("Usage: node packaging/executable.mjs NODE FILE");
if (majorOf(node) !== 24) throw new Error(`Cannot make the executable: ${node} must be Node 24`);
const folder = mkdtempSync(join(tmpdir(), "rolecall-executable-"));
try {
  const blob = await writeBlob(node, folder);
  inject(node, blob, resolve(file));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
