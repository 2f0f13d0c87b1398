/**
 * Makes a Debian package of the single executable: `node packaging/deb.mjs EXECUTABLE FILE`. DEBFULLNAME and DEBEMAIL
 * name its maintainer. Reproducible: all files have the time SOURCE_DATE_EPOCH, by default that of the last commit.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { chmodSync, lstatSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { licences } from "./licences.mjs";

const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const maintainer = `${process.env.DEBFULLNAME ?? "rolecall authors"} <${process.env.DEBEMAIL ?? "root@localhost"}>`;
const architectures = { x64: "amd64", arm64: "arm64" };

/** The present commit is the same wherever it is built. */
function sourceDate() {
  const given = process.env.SOURCE_DATE_EPOCH;
  return Number(given ?? execFileSync("git", ["log", "-1", "--format=%ct"], { encoding: "utf8" }));
}

/** Writes a file below the root of the package. */
function place(root, path, content) {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  chmodSync(file, 0o644);
}

/** A file of the systemd service. */
function unit(name) {
  return readFileSync(`deploy/systemd/${name}`);
}

/** Every file that the package installs. @param {string} executable the single executable, which prints its completions */
function placeFiles(root, executable, date) {
  place(root, "usr/lib/systemd/system/rolecall.service", unit("rolecall.service"));
  place(root, "usr/lib/systemd/system/rolecall.socket", unit("rolecall.socket"));
  place(root, "usr/lib/sysusers.d/rolecall.conf", unit("rolecall.sysusers.conf"));
  place(root, "usr/lib/tmpfiles.d/rolecall.conf", unit("rolecall.tmpfiles.conf"));
  const completion = (shell) => execFileSync(executable, ["completion", shell]);
  place(root, "usr/share/bash-completion/completions/rolecall", completion("bash"));
  place(root, "usr/share/zsh/vendor-completions/_rolecall", completion("zsh"));
  place(root, "usr/share/fish/vendor_completions.d/rolecall.fish", completion("fish"));
  place(root, "usr/share/man/man1/rolecall.1.gz", compressed(readFileSync("packaging/man/rolecall.1")));
  place(root, "usr/share/doc/rolecall/copyright", licences());
  place(root, "usr/share/doc/rolecall/changelog.gz", compressed(readFileSync("CHANGELOG.md")));
  place(root, "usr/share/doc/rolecall/changelog.Debian.gz", compressed(debianChangelog(date)));
  place(root, "usr/share/doc/rolecall/rolecall.yaml", readFileSync("config/rolecall.yaml"));
  place(root, "etc/rolecall/rolecall.yaml", readFileSync("packaging/deb/rolecall.yaml"));
  mkdirSync(join(root, "usr/bin"));
  copyFileSync(executable, join(root, "usr/bin/rolecall"));
  chmodSync(join(root, "usr/bin/rolecall"), 0o755);
}

/** gzip without a time in its head. */
function compressed(content) {
  return gzipSync(content, { level: 9 });
}

function debianChangelog(date) {
  const time = new Date(date * 1_000).toUTCString().replace("GMT", "+0000");
  return [
    `rolecall (${version}-1) unstable; urgency=medium`,
    "",
    `  * Release ${version}: changelog.gz lists its changes.`,
    "",
    ` -- ${maintainer}  ${time}`,
    "",
  ].join("\n");
}

/** The files that only dpkg reads. */
function placeControl(root, kilobytes) {
  const control = [
    "Package: rolecall",
    `Version: ${version}-1`,
    `Architecture: ${architectures[process.arch] ?? process.arch}`,
    `Maintainer: ${maintainer}`,
    `Installed-Size: ${kilobytes}`,
    // What Node links, and what creates the user and the directories.
    "Depends: libc6 (>= 2.28), libstdc++6 (>= 9), libgcc-s1,",
    " systemd | systemd-standalone-sysusers, systemd | systemd-standalone-tmpfiles",
    "Section: database",
    "Priority: optional",
    "Description: health checks for PostgreSQL high-availability clusters",
    " rolecall probes every node of PostgreSQL high-availability clusters in the",
    " background, and tells HAProxy, Envoy and Kubernetes from memory which node is",
    " the primary and which replicas are fit to read from.",
    "",
  ];
  place(root, "DEBIAN/control", control.join("\n"));
  place(root, "DEBIAN/conffiles", "/etc/rolecall/rolecall.yaml\n");
  for (const script of ["postinst", "prerm", "postrm"]) {
    place(root, `DEBIAN/${script}`, readFileSync(`packaging/deb/${script}`));
    chmodSync(join(root, `DEBIAN/${script}`), 0o755);
  }
}

/** All files and folders below a folder, and itself. */
function entriesOf(folder) {
  return [folder, ...readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name))];
}

const [executable = "", file = ""] = process.argv.slice(2);
if (file === "") throw new Error("Usage: node packaging/deb.mjs EXECUTABLE FILE");
const root = mkdtempSync(join(tmpdir(), "rolecall-deb-"));
try {
  const date = sourceDate();
  placeFiles(root, resolve(executable), date);
  const kilobytes = Math.ceil(entriesOf(root).reduce((sum, entry) => sum + lstatSync(entry).size, 0) / 1_024);
  placeControl(root, kilobytes);
  for (const entry of entriesOf(root)) {
    if (lstatSync(entry).isDirectory()) chmodSync(entry, 0o755);
    utimesSync(entry, date, date);
  }
  const compression = ["-Zgzip", "-z6"];
  execFileSync("dpkg-deb", ["--root-owner-group", ...compression, "--build", root, resolve(file)], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(date) },
    stdio: ["ignore", "ignore", "inherit"],
  });
} finally {
  rmSync(root, { recursive: true, force: true });
}
