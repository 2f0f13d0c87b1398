/** The commit of the source that is built. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";

/** How many digits of its hash are shown. */
const digits = 12;

/**
 * Returns the commit of a source tree: of its git repository, else of the file SOURCE, into which `git archive` writes it,
 * else of the environment variable SOURCE_COMMIT, for a build that has neither (an image).
 * @param {string} root the folder of the source
 * @returns {string} the first digits of its hash, with `-changed` if tracked files differ from it; `unknown` if nothing
 *   says which it is
 */
export function sourceCommit(root) {
  return ofRepository(root) ?? ofText(sourceFile(root)) ?? ofText(process.env.SOURCE_COMMIT ?? "") ?? "unknown";
}

/** A folder inside another repository is not of the commit of that one. */
function ofRepository(root) {
  const folder = git(root, "rev-parse", "--show-toplevel");
  if (folder === null || folder === "" || realpathSync(folder) !== realpathSync(root)) return null;
  const hash = git(root, "rev-parse", "--verify", "--quiet", "HEAD");
  if (hash === null) return null;
  return `${hash.slice(0, digits)}${git(root, "status", "--porcelain", "--untracked-files=no") === "" ? "" : "-changed"}`;
}

/** @returns {string | null} what git writes, without the last line break; `null` if it is missing or refuses */
function git(root, ...args) {
  const { status, stdout } = spawnSync("git", args, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return status === 0 ? stdout.trimEnd() : null;
}

function sourceFile(root) {
  const file = join(root, "SOURCE");
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

function ofText(text) {
  const [, hash = null] = new RegExp(`^([0-9a-f]{${digits}})[0-9a-f]*$`).exec(text.trim()) ?? [];
  return hash;
}
