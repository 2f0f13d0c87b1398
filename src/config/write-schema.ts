/** Writes config/schema.json from the schema the parser uses: `npm run schema`. */
import { writeFileSync } from "node:fs";
import { configJsonSchema } from "./json-schema.ts";

writeFileSync(new URL("../../config/schema.json", import.meta.url), `${JSON.stringify(configJsonSchema(), null, 2)}\n`);
