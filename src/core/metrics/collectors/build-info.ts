/** The build of this program, under the labels of `exporter_build_info` of pg_exporter. */
export interface Build {
  readonly version: string;
  readonly revision: string;
  readonly branch: string;
  readonly builddate: string;
  /** The version of Node.js. The name is that of pg_exporter. */
  readonly goversion: string;
  readonly goos: string;
  readonly goarch: string;
}

/** Processor names of Node.js that pg_exporter spells differently. */
const architectures: ReadonlyMap<string, string> = new Map([
  ["x64", "amd64"],
  ["ia32", "386"],
]);

/** The running build. Its revision, branch and date are not part of the package. */
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

/** The report of `/version`: seven lines without a newline at the end, as pg_exporter writes it. */
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
