/** Builds the program: `npm run build`. Types are checked by `npm run types`, and when the tests are compiled. */
import { bundleModules } from "./bundle.mjs";

await bundleModules("dist");
