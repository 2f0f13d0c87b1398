/** Generates config/schema.json and docs/configuration.md from the schema that the parser uses: `npm run schema`. */
import { writeFileSync } from "node:fs";
import { configReferenceOf } from "../../core/config/reference.ts";
import { configJsonSchema } from "./config.ts";

// Relative to the folder of the package, where npm runs it.
writeFileSync("config/schema.json", `${JSON.stringify(configJsonSchema(), null, 2)}\n`);
writeFileSync("docs/configuration.md", configReferenceOf(configJsonSchema()));
