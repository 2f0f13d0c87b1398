/**
 * Copies the live page to a folder: `buildPage("dist/web")`, or `node packaging/page.mjs FOLDER`. The page is not compiled.
 * The libraries come from the packages that package-lock.json pins, with their licences. A browser cannot resolve the
 * name of a package, so an import of one becomes a relative path. Two scripts are bundled for the worker that replays
 * incidents: `core.js`, the judgement itself (src/features/replay/core/page-core.ts), and `vendor/yaml.js`.
 */
import { build, transform } from "esbuild";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { extname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const web = join(root, "src", "features", "page", "web");
const packages = join(root, "node_modules");

/** File of a package -> its name under `vendor/`. */
const vendored = {
  "preact/dist/preact.mjs": "preact.js",
  "preact/hooks/dist/hooks.mjs": "hooks.js",
  "htm/dist/htm.module.js": "htm.js",
  "uplot/dist/uPlot.esm.js": "uplot.js",
  "uplot/dist/uPlot.min.css": "uplot.css",
};

/**
 * Writes the live page, and `files.json` with the names of its files.
 * @param {string} target where to; what it holds is removed
 */
export async function buildPage(target) {
  await copyPage(target);
  await preloadModules(target);
  const core = {
    exports: 'export * from "./src/features/replay/core/page-core.ts"',
    name: "rolecallCore",
    plugins: [leavesOutAbsent],
  };
  await bundleScript(join(target, "core.js"), core);
  const yaml = {
    exports: 'export { parseIncidentText } from "./src/features/replay/cli/incident-text.ts"',
    name: "rolecallYaml",
    plugins: [readsYamlOnly],
  };
  await bundleScript(join(target, "vendor", "yaml.js"), yaml);
  await writeNotices(join(target, "vendor", "licenses.txt"));
  await writeFile(join(target, "files.json"), JSON.stringify(await filesIn(target)));
}

const small = { minifyWhitespace: true, minifySyntax: true, minifyIdentifiers: true };

async function copyPage(target) {
  await rm(target, { recursive: true, force: true });
  await cp(web, target, { recursive: true });
  // Comments, indentation and long local names are left out: the page has a limit for its size.
  for (const name of await filesIn(target)) {
    const loader = extname(name).slice(1);
    if (loader !== "js" && loader !== "css") continue;
    const text = await readFile(join(target, name), "utf8");
    const { code } = await transform(text, { loader, ...small, charset: "utf8" });
    await writeFile(join(target, name), code);
  }
  await mkdir(join(target, "vendor"));
  for (const [path, name] of Object.entries(vendored)) {
    const text = await readFile(join(packages, path), "utf8");
    const code = text.replaceAll('from"preact"', 'from"./preact.js"').replace(/^\/\/# sourceMappingURL=.*$/gm, "");
    const isSmall = !name.endsWith(".js") || /\.min\.|\.mjs$|\.module\.js$/.test(path);
    await writeFile(join(target, "vendor", name), isSmall ? code : (await transform(code, { minify: true })).code);
  }
}

/**
 * Names every module that `app.js` imports in the head of the page. Without that, a browser finds a module only in the one that imports it, and
 * requests one level of imports after the other.
 */
async function preloadModules(target) {
  const { metafile } = await build({
    entryPoints: ["app.js"],
    absWorkingDir: resolve(target),
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    splitting: true,
    outdir: ".",
    logLevel: "warning",
  });
  const modules = new Set(["app.js"]);
  for (const name of modules)
    for (const { path, kind } of metafile.inputs[name].imports) if (kind === "import-statement") modules.add(path);
  modules.delete("app.js");
  const links = [...modules].sort().map((name) => `<link rel="modulepreload" href="page/${name}" />`);
  const file = join(target, "index.html");
  const text = await readFile(file, "utf8");
  await writeFile(
    file,
    text.replace(/^( *)(?=<script type="module")/m, (_, indent) => indent + [...links, ""].join(`\n${indent}`)),
  );
}

/**
 * Leaves out what yaml needs to write documents, since the page only reads them. Of what is read, only a mapping whose
 * key is a collection needs that part: such a file is refused.
 */
const readsYamlOnly = {
  name: "reads-yaml-only",
  setup({ onLoad }) {
    onLoad(
      { filter: /[\\/]yaml[\\/]browser[\\/]dist[\\/](stringify[\\/]\w+|doc[\\/]createNode|parse[\\/]cst-visit)\.js$/ },
      async ({ path }) => {
        const text = await readFile(path, "utf8");
        const names = /^export \{ ([^}]+) \};$/m.exec(text)[1].split(", ");
        const refusal = 'throw new Error("Keys of mappings must be scalars")';
        return { contents: names.map((name) => `export function ${name}() { ${refusal}; }`).join("\n") };
      },
    );
  },
};

/**
 * What no incident file can bring about, and what stands for it in the bundle. Its members are named, not discovered, so
 * that every address is settled; it has no password, and no document as a node sent it.
 */
const absent = {
  "observe/take-addresses": `
    export const applyContact = (cluster) => cluster;
    export const withContactView = (cluster) => cluster;
    export const withoutDistrustedLists = (cluster) => cluster;
    export const withSettledAddresses = (cluster) => cluster;`,
  "node/foreign-scope": "export const foreignScopeText = () => null;",
  "node/node-password": "export const withholdsPassword = () => false;",
  "node/plans": `
    export const scheduledSwitchover = () => null;
    export const statedLags = () => ({});
    export const nodeMarks = () => ({
      pending_restart: false, pending_restart_reason: [], scheduled_restart: null, watchdog_failed: false,
    });`,
};

const leavesOutAbsent = {
  name: "leaves-out-absent",
  setup({ onLoad }) {
    for (const [name, contents] of Object.entries(absent))
      onLoad({ filter: new RegExp(`[\\\\/]${name.replace("/", "[\\\\/]")}\\.ts$`) }, () => ({
        contents,
        loader: "ts",
      }));
  },
};

/** Bundles one script that declares one global variable. The same input gives the same bytes. */
async function bundleScript(file, { exports, name, plugins = [] }) {
  await build({
    stdin: { contents: exports, resolveDir: root },
    outfile: file,
    globalName: name,
    bundle: true,
    minify: true,
    format: "iife",
    platform: "browser",
    target: ["chrome100", "firefox100", "safari15.4"],
    charset: "utf8",
    legalComments: "none",
    logLevel: "warning",
    plugins,
  });
}

async function writeNotices(file) {
  const notices = ["preact", "htm", "uplot", "yaml"].map(async (name) => {
    const { version, license } = JSON.parse(await readFile(join(packages, name, "package.json"), "utf8"));
    const text = await readFile(join(packages, name, "LICENSE"), "utf8");
    return `${name} ${version} (${license})\n\n${text.trim()}\n`;
  });
  await writeFile(file, (await Promise.all(notices)).join(`\n${"-".repeat(80)}\n\n`));
}

/** @returns {Promise<string[]>} the names of the files below a folder, sorted */
export async function filesIn(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .sort();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = process.argv[2];
  if (folder === undefined) throw new Error("Usage: node packaging/page.mjs FOLDER");
  await buildPage(folder);
}
