/** Programs of a newer Debian than that of the machine: unpacked with their libraries, not installed. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What to unpack. */
interface UnpackedPackages {
  /** The name of the folder, with the version of what is in it. */
  readonly name: string;
  /** The release of Debian, such as `trixie`. */
  readonly release: string;
  /** The package of the program, and those of all its libraries. */
  readonly packages: readonly string[];
  /** The program below the root of the packages. */
  readonly program: string;
}

/**
 * Downloads packages from the mirror that this machine uses, and unpacks them into a folder that later runs find again
 * under the temporary folder. Takes some ten seconds the first time, at most 4 minutes.
 * @returns a command that runs the program with its own libraries, as any user, or why there is none
 */
export function unpackedProgram(unpacked: UnpackedPackages): { readonly path: string } | { readonly notRun: string } {
  const folder = join(tmpdir(), `rolecall-${unpacked.name}-${process.getuid?.() ?? 0}`);
  const path = join(folder, "run");
  // A program in a folder that everyone may write is run only if this user put it there.
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found !== undefined && (!found.isDirectory() || found.uid !== process.getuid?.()))
    return { notRun: `${folder} belongs to another user` };
  if (existsSync(path)) return { path };
  const fresh = mkdtempSync(`${folder}-`);
  try {
    unpack(fresh, unpacked);
    chmodSync(fresh, 0o755);
    if (!existsSync(path)) renameSync(fresh, folder); // another test process may have been as fast
  } catch {
    return {
      notRun: `the mirror of this machine has no ${unpacked.packages.join(", ")} of Debian ${unpacked.release}`,
    };
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return { path };
}

function unpack(folder: string, { release, packages, program }: UnpackedPackages): void {
  const [apt, root] = [join(folder, "apt"), join(folder, "root")];
  for (const part of ["lists/partial", "cache/archives/partial"]) mkdirSync(join(apt, part), { recursive: true });
  mkdirSync(root);
  const site = execFileSync("apt-get", ["indextargets", "--format", "$(SITE)", "Label: Debian"], { encoding: "utf8" });
  const sources = join(apt, "sources.list");
  const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";
  writeFileSync(sources, `deb [signed-by=${keyring}] ${site.split("\n")[0] ?? ""} ${release} main\n`);
  const options = [
    `Dir::Etc::sourcelist=${sources}`,
    "Dir::Etc::sourceparts=-",
    `Dir::State::lists=${join(apt, "lists")}`,
    `Dir::Cache=${join(apt, "cache")}`,
    "APT::Sandbox::User=root",
  ].flatMap((option) => ["-o", option]);
  const run = (command: string, ...args: readonly string[]): void =>
    void execFileSync(command, args, { cwd: apt, stdio: "ignore", timeout: 120_000 });
  run("apt-get", ...options, "update");
  run("apt-get", ...options, "download", ...packages);
  for (const file of readdirSync(apt).filter((name) => name.endsWith(".deb"))) run("dpkg-deb", "-x", file, root);
  const script = join(folder, "run");
  const lines = [
    "#!/bin/sh",
    'root=$(dirname "$0")/root',
    "lib=$root/usr/lib/$(uname -m)-linux-gnu",
    `exec "$lib"/ld-linux-*.so.* --library-path "$lib" "$root"/${program} "$@"`,
  ];
  writeFileSync(script, `${lines.join("\n")}\n`, { mode: 0o755 });
  run(script, "--version");
  rmSync(apt, { recursive: true });
}
