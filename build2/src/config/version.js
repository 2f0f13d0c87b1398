import { existsSync, readFileSync } from "node:fs";
/**
 * Returns the version in package.json. It is two folders above this module in `dist`, three when compiled for tests.
 */
export function version() {
    const file = ["../../package.json", "../../../package.json"]
        .map((path) => new URL(path, import.meta.url))
        .find((url) => existsSync(url));
    const value = file === undefined ? null : JSON.parse(readFileSync(file, "utf8"));
    return typeof value === "object" && value !== null && "version" in value ? String(value.version) : "unknown";
}
//# sourceMappingURL=version.js.map