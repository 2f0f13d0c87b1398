/** What this program was built of, under the labels of `exporter_build_info` (seeds/exporter-api.md). */
export interface Build {
  readonly version: string;
  readonly revision: string;
  readonly branch: string;
  readonly builddate: string;
  /** The run-time's version: the name is the upstream's. */
  readonly goversion: string;
  readonly goos: string;
  readonly goarch: string;
}

/** Node.js's names of processors as the upstream spells them; others are spelt alike. */
const architectures: ReadonlyMap<string, string> = new Map([
  ["x64", "amd64"],
  ["ia32", "386"],
]);

/** The build that runs. A package knows nothing of the revision, branch and date it was made of. */
export function buildInfo(version: string): Build {
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
export function versionText({ version, revision, branch, goversion, builddate, goos, goarch }: Build): string {
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
