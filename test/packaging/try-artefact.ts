/** Tries an artefact that another program has made: `node build/test/packaging/try-artefact.js [--documents] COMMAND…`. */
import { assertWorks } from "./artefact.ts";

const [, , ...words] = process.argv;
const hasDocuments = words[0] === "--documents";
await assertWorks({ command: hasDocuments ? words.slice(1) : words, env: process.env, hasDocuments });
console.log("every command works while a node is dead");
process.exit(); // the block of ports is held until then
