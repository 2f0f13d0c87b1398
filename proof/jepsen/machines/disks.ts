/** Small disks of their own (tmpfs): one for each node and one for etcd, so that a full one is full for one machine. */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { prefix } from "./addresses.ts";

/** Mounts an empty disk, which postgres owns. */
export function mountDisk(folder: string, megabytes: number): void {
  mkdirSync(folder, { recursive: true });
  const options = `size=${megabytes}m,mode=0700,uid=postgres,gid=postgres`;
  execFileSync("mount", ["-t", "tmpfs", "-o", options, prefix, folder]);
}

/** Uses up what is free on a disk. What it returns frees it again. */
export function fill(folder: string): () => void {
  const ballast = join(folder, "ballast");
  const lines = execFileSync("df", ["--output=avail", "--block-size=1K", folder], { encoding: "utf8" }).split("\n");
  const available = Number(lines[1]);
  if (available > 0) execFileSync("fallocate", ["--length", `${available}KiB`, ballast]);
  return () => rmSync(ballast, { force: true });
}
