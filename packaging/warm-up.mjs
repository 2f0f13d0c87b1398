/**
 * Starts the built program once, so that V8's code cache is saved: `node packaging/warm-up.mjs FOLDER`. Everybody may read
 * the cache then. For an image, whose service cannot write one. Not reproducible byte for byte.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** How long the program may take, in ms. */
const limitMs = 60_000;
/** Of `serve` and of a worker. */
const cachesWanted = 2;

/** The status document of a primary, and the document of its cluster. */
const member = {
  name: "pg1",
  role: "leader",
  state: "running",
  api_url: "",
  host: "127.0.0.1",
  port: 5432,
  timeline: 1,
};
const documents = {
  "/patroni": {
    state: "running",
    role: "primary",
    server_version: 160004,
    timeline: 1,
    xlog: { location: 100663296 },
    replication: [],
    patroni: { version: "4.0.4", scope: "main", name: "pg1" },
  },
  "/cluster": { members: [member], scope: "main" },
};

/** @returns {number} how many caches are saved; a file that is being written has another name */
function saved(folder) {
  try {
    return readdirSync(join(folder, "rolecall")).filter((name) => name.endsWith(".cache")).length;
  } catch {
    return 0; // The folder does not exist yet.
  }
}

async function isSaved(folder, child) {
  const endMs = Date.now() + limitMs;
  while (saved(folder) < cachesWanted && child.exitCode === null && Date.now() < endMs)
    await new Promise((done) => setTimeout(done, 50));
  return saved(folder) === cachesWanted;
}

const [folder = ""] = process.argv.slice(2);
if (folder === "") throw new Error("Usage: node packaging/warm-up.mjs FOLDER");
const node = createServer((request, response) => {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(documents[request.url] ?? {}));
});
const scratch = mkdtempSync(join(tmpdir(), "rolecall-warm-up-"));
try {
  await once(node.listen(0, "127.0.0.1"), "listening");
  const file = join(scratch, "rolecall.json");
  const configuration = {
    clusters: [{ name: "main", nodes: [{ name: "pg1", api: `http://127.0.0.1:${node.address().port}` }] }],
    listen: [{ port: 0 }, { port: 0, dialect: "admin" }],
    workers: 1,
    log: { level: "error" },
    drain: "0s",
  };
  writeFileSync(file, JSON.stringify(configuration)); // JSON is YAML.
  const child = spawn(process.execPath, ["dist/main.js", "serve", "--config", file], {
    // Nothing else of the environment: NODE_COMPILE_CACHE would come first.
    env: { CACHE_DIRECTORY: resolve(folder) },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const ended = once(child, "exit");
  const isDone = await isSaved(folder, child);
  child.kill("SIGTERM");
  await ended;
  if (!isDone) throw new Error(`Cannot save the code cache: ${cachesWanted} files must appear, got ${saved(folder)}`);
  execFileSync("chmod", ["-R", "a+rX", folder]);
} finally {
  node.close();
  node.closeAllConnections();
  rmSync(scratch, { recursive: true, force: true });
}
