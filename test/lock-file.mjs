/**
 * Checks package-lock.json by itself: version 3, every package from one registry over https and pinned by a sha512, all
 * that package.json asks for.
 */
import { readFileSync } from "node:fs";

const { lockfileVersion, packages } = JSON.parse(readFileSync("package-lock.json", "utf8"));
const { dependencies, devDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
const problems = [];
if (lockfileVersion !== 3) problems.push(`lockfileVersion must be 3: it is ${lockfileVersion}`);
const [root, ...installed] = Object.entries(packages);
for (const [path, { integrity, resolved, link }] of installed) {
  if (link === true) problems.push(`${path} must come from the registry: it is a link`);
  if (!/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ""))
    problems.push(`${path} must have a sha512: it has ${integrity}`);
  if (resolved !== undefined && !resolved.startsWith("https://")) problems.push(`${path} must come over https`);
}
const origins = new Set(
  installed.flatMap(([, { resolved }]) => (resolved === undefined ? [] : [new URL(resolved).origin])),
);
if (origins.size > 1) problems.push(`all packages must come from one registry: they come from ${origins.size}`);
for (const kind of ["dependencies", "devDependencies"]) {
  const [asked, locked] = [{ dependencies, devDependencies }[kind], root[1][kind]].map((wanted) =>
    JSON.stringify(Object.entries(wanted ?? {}).toSorted(([one], [other]) => one.localeCompare(other))),
  );
  if (asked !== locked) problems.push(`${kind} of package.json and package-lock.json must be the same`);
}
for (const problem of problems) console.error(problem);
console.log(`packages: ${installed.length}, problems: ${problems.length}`);
process.exitCode = problems.length === 0 ? 0 : 1;
