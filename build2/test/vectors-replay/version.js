/** The major number of a version such as 4.1.4. */
export function majorOf(version) {
    return Number.parseInt(version, 10);
}
//# sourceMappingURL=version.js.map