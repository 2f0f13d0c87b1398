/** The files of a release, in the two versions that the documents upgrade from and to. */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The versions that the pages about installation name. */
export const pageVersions = ["1.0.0", "1.1.0"] as const;

/**
 * Writes one file of the release in both versions. Only what states the version differs.
 * @param pattern its name with `VERSION`, such as `rolecall-VERSION.tgz`
 * @param folder where the two files are written
 * @returns why there is none; `null` if they are there
 */
export function writeArtefacts(pattern: string, folder: string): string | null {
  const release = process.env["RELEASE_FILES"];
  if (release === undefined && !pattern.endsWith(".tgz")) return "no folder of a release is named by RELEASE_FILES";
  const files = release ?? packed(folder);
  const name = readdirSync(files).find((file) => new RegExp(`^${pattern.replace("VERSION", "[\\d.]+")}$`).test(file));
  if (name === undefined) return `${files} has no ${pattern}`;
  const source = join(files, name);
  for (const pageVersion of pageVersions)
    writeVersion(source, { version: pageVersion, file: join(folder, pattern.replace("VERSION", pageVersion)) });
  return null;
}

/** Makes the npm package of the built tree. @returns its folder */
function packed(folder: string): string {
  const packages = join(folder, "packed");
  mkdirSync(packages);
  execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", packages], { stdio: "ignore" });
  return packages;
}

function writeVersion(source: string, { version, file }: { readonly version: string; readonly file: string }): void {
  const tree = `${file}.tree`;
  if (file.endsWith(".tgz")) {
    mkdirSync(tree);
    execFileSync("tar", ["--extract", "--gzip", "--file", source, "--directory", tree]);
    replaceIn(join(tree, "package/package.json"), /"version": "[^"]*"/, `"version": "${version}"`);
    execFileSync("tar", ["--create", "--gzip", "--file", file, "--directory", tree, "package"]);
  } else if (file.endsWith(".deb")) {
    execFileSync("dpkg-deb", ["--raw-extract", source, tree]);
    replaceIn(join(tree, "DEBIAN/control"), /^Version: .*$/m, `Version: ${version}`);
    execFileSync("dpkg-deb", ["--root-owner-group", "-Znone", "--build", tree, file], { stdio: "ignore" });
  } else copyFileSync(source, file);
}

function replaceIn(file: string, pattern: RegExp, text: string): void {
  writeFileSync(file, readFileSync(file, "utf8").replace(pattern, text));
}
