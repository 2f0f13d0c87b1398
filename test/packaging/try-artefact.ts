/** Tries an artefact that another program has made: `node build/test/packaging/try-artefact.js COMMAND…`. */
import { assertWorks } from "./artefact.ts";

await assertWorks({ command: process.argv.slice(2), env: process.env, hasDocuments: false });
console.log("every command works while a node is dead");
process.exit(); // the block of ports is held until then
