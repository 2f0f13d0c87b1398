/** The licences of what the program contains. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ofExecutable =
  "The executable contains Node.js, whose licence is in the file LICENSE of its source, and the packages below.";

/**
 * Returns the text of a file that tells the licence of rolecall and of each package that it runs with.
 * @param {string} [introduction] what contains the packages; by default the executable, with Node
 * @returns {string} in the form of /usr/share/doc/PACKAGE/copyright
 */
export function licences(introduction = ofExecutable) {
  const packages = execFileSync("npm", ["ls", "--omit=dev", "--all", "--parseable"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  })
    .trim()
    .split("\n")
    .slice(1);
  const unique = [...new Set(packages)].toSorted();
  return [
    "rolecall",
    "",
    readFileSync("LICENSE", "utf8").trim(),
    "",
    introduction,
    ...unique.flatMap(packageLines),
    "",
  ].join("\n");
}

function packageLines(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e(\.(md|txt))?$/i.test(entry));
  const text = file !== undefined ? readFileSync(join(folder, file), "utf8").trim() : "";
  return ["", `## ${name} ${version}: ${license}`, "", text];
}
