import { version } from "../../config/version.js";
/** `rolecall version`: prints the version of the program. */
export async function printVersion({ print, result }) {
    const current = version();
    result.data = { rolecall: current, node: process.version };
    print(`rolecall ${current}\n`);
}
//# sourceMappingURL=version.js.map