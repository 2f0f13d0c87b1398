/** The version in every file that states it. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** File -> what is before the version in it. Each place must be there once. */
const places = {
  "package.json": [/^ {2}"version": "/m],
  "package-lock.json": [/^ {2}"version": "/m, /^ {4}"": \{\n {6}"name": "rolecall",\n {6}"version": "/m],
  Dockerfile: [/org\.opencontainers\.image\.version="/],
  "deploy/kubernetes/rolecall.yaml": [/^ +image: rolecall:/m],
  "deploy/helm/rolecall/Chart.yaml": [/^version: /m, /^appVersion: "?/m],
  "deploy/helm/rolecall/values.yaml": [/^image: rolecall:/m],
};

/** The files that state the version. */
export const versionedFiles = Object.keys(places);

/**
 * Returns the files that state the version, with another one. Writes nothing.
 * @param {string} root the folder of the repository
 * @param {string} version the new version
 * @returns {[string, string][]} the names of the files and their new texts
 * @throws if a file does not state the version where it should
 */
export function withVersion(root, version) {
  return Object.entries(places).map(([file, patterns]) => {
    let text = readFileSync(join(root, file), "utf8");
    for (const { source, flags } of patterns) {
      const pattern = new RegExp(`(${source})\\d+\\.\\d+\\.\\d+`, `g${flags}`);
      const count = [...text.matchAll(pattern)].length;
      if (count !== 1)
        throw new Error(`Cannot release: ${file} must state the version once after /${source}/, got ${count} times`);
      text = text.replace(pattern, (_, before) => before + version);
    }
    return [file, text];
  });
}

/**
 * Writes the version into every file that states it.
 * @param {string} root the folder of the repository
 * @param {string} version the new version
 */
export function writeVersion(root, version) {
  for (const [file, text] of withVersion(root, version)) writeFileSync(join(root, file), text);
}

/**
 * Compares two versions.
 * @param {string} version one version, MAJOR.MINOR.PATCH
 * @param {string} other another one
 * @returns {boolean} whether the first is above the second
 */
export function isAbove(version, other) {
  const [parts, otherParts] = [version, other].map((text) => text.split(".").map(Number));
  const index = parts.findIndex((part, position) => part !== otherParts[position]);
  return index !== -1 && parts[index] > otherParts[index];
}
