/** Processor names of Node.js that the upstream spells differently. */
const architectures = new Map([
    ["x64", "amd64"],
    ["ia32", "386"],
]);
/** The running build. Its revision, branch and date are not part of the package. */
export function buildInfo(version) {
    return {
        version: `v${version}`,
        revision: "unknown",
        branch: "unknown",
        builddate: "unknown",
        goversion: `node ${process.version}`,
        goos: process.platform,
        goarch: architectures.get(process.arch) ?? process.arch,
    };
}
/** The report of `/version`: seven lines without a newline at the end (reference/exporter-api.md, 4.1). */
export function versionText({ version, revision, branch, goversion, builddate, goos, goarch }) {
    return [
        `rolecall version ${version}`,
        `revision: ${revision}`,
        `branch: ${branch}`,
        `go version: ${goversion}`,
        `build date: ${builddate}`,
        `goos: ${goos}`,
        `goarch: ${goarch}`,
    ].join("\n");
}
//# sourceMappingURL=build-info.js.map