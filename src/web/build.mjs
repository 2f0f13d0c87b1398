/**
 * Copies the live page to the folder that is served: `node src/web/build.mjs dist/web`. The page is not compiled. The
 * libraries come from the packages that package-lock.json pins, with their licences. A browser cannot resolve the name
 * of a package, so an import of one becomes a relative path.
 */
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
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
await mkdir(join(target, "vendor"));
for (const [path, name] of Object.entries(vendored)) {
  const text = await readFile(join(packages, path), "utf8");
  const code = text.replaceAll('from"preact"', 'from"./preact.js"').replace(/^\/\/# sourceMappingURL=.*$/gm, "");
  await writeFile(join(target, "vendor", name), code);
}
const notices = ["preact", "htm", "uplot"].map(async (name) => {
  const { version, license } = JSON.parse(await readFile(join(packages, name, "package.json"), "utf8"));
  const text = await readFile(join(packages, name, "LICENSE"), "utf8");
  return `${name} ${version} (${license})\n\n${text.trim()}\n`;
});
await writeFile(join(target, "vendor", "licenses.txt"), (await Promise.all(notices)).join(`\n${"-".repeat(80)}\n\n`));
