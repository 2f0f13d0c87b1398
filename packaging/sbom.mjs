/**
 * Writes the bill of materials (CycloneDX) of what runs: `node packaging/sbom.mjs FILE [NODE]`. With NODE, that of the
 * executable, which contains this Node binary. Reproducible: its serial number follows from its content, and its time
 * is SOURCE_DATE_EPOCH, by default that of the last commit.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";

function outputOf(command, ...args) {
  return execFileSync(command, args, { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
}

/** A UUID (version 8) from a text. */
function uuidOf(text) {
  const digest = createHash("sha256").update(text).digest("hex");
  const variant = ((parseInt(digest[16], 16) & 3) | 8).toString(16);
  const parts = [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(13, 16)}`,
    `${variant}${digest.slice(17, 20)}`,
  ];
  return [...parts, digest.slice(20, 32)].join("-");
}

/** The Node binary in the executable, as a component. */
function nodeComponent(node) {
  const version = outputOf(node, "-p", "process.versions.node").trim();
  return {
    "bom-ref": `node@${version}`,
    type: "platform",
    name: "node",
    version,
    scope: "required",
    purl: `pkg:generic/node@${version}`,
    licenses: [{ license: { id: "MIT" } }],
  };
}

/**
 * Keeps what the program needs to run. `npm sbom --omit dev` does not do: it also leaves out what a development
 * package needs as well.
 */
function withoutDevelopment(document) {
  const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8"));
  const refOf = (name) => {
    const locked = packages[`node_modules/${name}`];
    return `${locked.name ?? name}@${locked.version}`;
  };
  const needed = new Map(document.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
  const kept = new Set();
  const open = Object.keys(packages[""].dependencies).map(refOf);
  for (let ref = open.pop(); ref !== undefined; ref = open.pop()) {
    if (kept.has(ref)) continue;
    kept.add(ref);
    open.push(...(needed.get(ref) ?? []));
  }
  const root = document.metadata.component["bom-ref"];
  const only = (refs) => refs.filter((ref) => kept.has(ref));
  return {
    ...document,
    components: document.components.filter((component) => kept.has(component["bom-ref"])),
    dependencies: document.dependencies
      .filter(({ ref }) => ref === root || kept.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: only(dependsOn) })),
  };
}

const [file = "", node] = process.argv.slice(2);
if (file === "") throw new Error("Usage: node packaging/sbom.mjs FILE [NODE]");
const document = withoutDevelopment(
  JSON.parse(
    outputOf("npm", "sbom", "--package-lock-only", "--sbom-format", "cyclonedx", "--sbom-type", "application"),
  ),
);
const date = Number(process.env.SOURCE_DATE_EPOCH ?? outputOf("git", "log", "-1", "--format=%ct"));
document.metadata.timestamp = new Date(date * 1_000).toISOString();
// npm names the folder.
document.metadata.component.name = "rolecall";
for (const component of [document.metadata.component, ...document.components])
  // Where this machine got it from says nothing about what it is: the hash does.
  component.externalReferences = component.externalReferences?.filter(({ type }) => type !== "distribution");
if (node !== undefined) document.components.push(nodeComponent(node));
delete document.serialNumber;
document.serialNumber = `urn:uuid:${uuidOf(JSON.stringify(document))}`;
writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`);
