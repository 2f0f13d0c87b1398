/** The files of a release (docs/install.md lists them). */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "./run.mjs";

const architectures = { x64: "amd64", arm64: "arm64" };

/**
 * Makes the files of a release from a tree that is built, and prints their names.
 * @param {string} root the tree, which states the new version
 * @param {{ version: string, output: string, node?: string, epoch: number }} release its version; the folder for the
 *   files; the binary of Node 24, if the executable and its Debian package are wanted; the time in the files, in
 *   seconds since 1970
 */
export function makeArtefacts(root, { version, output, node, epoch }) {
  const environment = { cwd: root, env: { SOURCE_DATE_EPOCH: String(epoch) } };
  const script = (name, ...args) => run([process.execPath, `packaging/${name}.mjs`, ...args], environment);
  const executable = `rolecall-${version}-linux-${process.arch}`;
  const debian = `rolecall_${version}_${architectures[process.arch] ?? process.arch}.deb`;
  mkdirSync(output, { recursive: true });
  // Without scripts: the tree is built.
  run(["npm", "pack", "--ignore-scripts", "--silent", "--pack-destination", output], environment);
  script("sbom", join(output, `rolecall-${version}.cdx.json`));
  if (node !== undefined) {
    script("executable", node, join(output, executable));
    script("deb", join(output, executable), join(output, debian));
    script("sbom", join(output, `${executable}.cdx.json`), node);
  }
  writeChecksums(output);
  for (const name of readdirSync(output)) console.log(`made ${name}`);
  if (node === undefined)
    for (const name of [executable, debian]) console.log(`not made: ${name}: --node names no Node 24`);
}

/** Writes SHA256SUMS, which `sha256sum --check` reads. */
function writeChecksums(folder) {
  const lines = readdirSync(folder)
    .toSorted()
    .map(
      (name) =>
        `${createHash("sha256")
          .update(readFileSync(join(folder, name)))
          .digest("hex")}  ${name}\n`,
    );
  writeFileSync(join(folder, "SHA256SUMS"), lines.join(""));
}
