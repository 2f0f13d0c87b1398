/** Generates config/schema.json and docs/configuration.md from the schema that the parser uses: `npm run schema`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { configJsonSchema } from "./schema/json-schema.js";
import { configReference } from "./reference.js";
const root = new URL("../..", import.meta.url);
writeFileSync(new URL("config/schema.json", root), `${JSON.stringify(configJsonSchema(), null, 2)}\n`);
mkdirSync(new URL("docs/", root), { recursive: true });
writeFileSync(new URL("docs/configuration.md", root), configReference());
//# sourceMappingURL=write-schema.js.map