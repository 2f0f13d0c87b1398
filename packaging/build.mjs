/** Builds the program: `npm run build`. Types are checked by `npm run types`, and when the tests are compiled. */
import { writeFileSync } from "node:fs";
import { bundleForNode } from "./bundle.mjs";
import { sourceCommit } from "./commit.mjs";
import { licences } from "./licences.mjs";
import { buildPage } from "./page.mjs";

await bundleForNode("dist");
await buildPage("dist/web");
writeFileSync(
  "dist/licences.txt",
  licences("dist/serve.cjs, dist/worker.cjs and dist/guardian.cjs contain code of packages below."),
);
writeFileSync("dist/commit.txt", `${sourceCommit(".")}\n`);
