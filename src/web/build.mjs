/**
 * Copies the live page to the folder that is served: `node src/web/build.mjs dist/web`. The page is not compiled. The
 * libraries come from the packages that package-lock.json pins, with their licences. A browser cannot resolve the name
 * of a package, so an import of one becomes a relative path. Two scripts are bundled for the worker that replays
 * incidents: `core.js`, the judgement itself (src/replay/page-core.ts), and `vendor/yaml.js`.
 */
import { build, transform } from "esbuild";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";

const web = dirname(fileURLToPath(import.meta.url));
const packages = join(web, "..", "..", "node_modules");
const target = process.argv[2];
if (target === undefined) throw new Error("Cannot copy the live page: an argument must name the folder");

/** File of a package -> its name under `vendor/`. */
const vendored = {
  "preact/dist/preact.mjs": "preact.js",
  "preact/hooks/dist/hooks.mjs": "hooks.js",
  "htm/dist/htm.module.js": "htm.js",
  "uplot/dist/uPlot.esm.js": "uplot.js",
  "uplot/dist/uPlot.min.css": "uplot.css",
};

await rm(target, { recursive: true, force: true });
await cp(web, target, { recursive: true, filter: (path) => basename(path) !== basename(import.meta.url) });
// Comments and indentation are left out: the page has a limit for its size. Nothing else changes.
for (const name of await readdir(target, { recursive: true })) {
  const loader = extname(name).slice(1);
  if (loader !== "js" && loader !== "css") continue;
  const { code } = await transform(await readFile(join(target, name), "utf8"), {
    loader,
    minifyWhitespace: true,
    charset: "utf8",
  });
  await writeFile(join(target, name), code);
}
await mkdir(join(target, "vendor"));
for (const [path, name] of Object.entries(vendored)) {
  const text = await readFile(join(packages, path), "utf8");
  const code = text.replaceAll('from"preact"', 'from"./preact.js"').replace(/^\/\/# sourceMappingURL=.*$/gm, "");
  const isSmall = !name.endsWith(".js") || /\.min\.|\.mjs$|\.module\.js$/.test(path);
  await writeFile(join(target, "vendor", name), isSmall ? code : (await transform(code, { minify: true })).code);
}
/** Bundles one script that declares one global variable. The same input gives the same bytes. */
async function bundle(exports, name, file) {
  await build({
    stdin: { contents: exports, resolveDir: web },
    outfile: join(target, file),
    globalName: name,
    bundle: true,
    minify: true,
    format: "iife",
    platform: "browser",
    target: ["chrome100", "firefox100", "safari15.4"],
    charset: "utf8",
    legalComments: "none",
    logLevel: "warning",
  });
}
await bundle('export * from "../replay/page-core.ts"', "rolecallCore", "core.js");
await bundle('export { parse } from "yaml"', "rolecallYaml", join("vendor", "yaml.js"));

const notices = ["preact", "htm", "uplot", "yaml"].map(async (name) => {
  const { version, license } = JSON.parse(await readFile(join(packages, name, "package.json"), "utf8"));
  const text = await readFile(join(packages, name, "LICENSE"), "utf8");
  return `${name} ${version} (${license})\n\n${text.trim()}\n`;
});
await writeFile(join(target, "vendor", "licenses.txt"), (await Promise.all(notices)).join(`\n${"-".repeat(80)}\n\n`));
