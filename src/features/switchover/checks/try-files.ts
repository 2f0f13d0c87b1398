import { realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, resolve } from "node:path";
import { errorMessage } from "../../../core/cluster/values/error-message.ts";
import { readRegularFileLater } from "../../../core/files/regular-file.ts";
import { includedFiles } from "../../../core/balancing/pgbouncer/included-file.ts";
import { inTime, late } from "../../../core/state/files/in-time.ts";
import type { TriedFile } from "../preflight/file-lines.ts";
import { relevantDatabases } from "../preflight/pooler-setup.ts";
import type { InspectedPooler } from "./resolve-hosts.ts";

/** How long the file system may take for one file, in ms. */
const limitMs = 1_500;
/** The longest configuration of PgBouncer that is read, in bytes, and how deep its files include others. */
const bytesMax = 1024 * 1024;
const depthMax = 10;

/**
 * Tries what leading clients to the new primary will need: a file beside each file that PgBouncer includes, written to the
 * disk and removed again; and whether the configuration that SHOW CONFIG names includes it. Leaves the files themselves alone.
 */
export async function tryFiles(inspected: readonly InspectedPooler[], cluster: string): Promise<readonly TriedFile[]> {
  return Promise.all(
    inspected.flatMap(({ pooler, shown }) => {
      const config = shown.settings.get("conffile") ?? null;
      const files = new Set(relevantDatabases({ pooler, cluster }).flatMap(({ file }) => file ?? []));
      return [...files].map((file) => tryFile(pooler.name, file, config));
    }),
  );
}

async function tryFile(pooler: string, file: string, config: string | null): Promise<TriedFile> {
  const tried = await inTime(
    Promise.all([problemOf(file), config === null ? null : isIncluded(file, config, 0).catch(() => null)]),
    limitMs,
  );
  if (tried === late)
    return { pooler, file, config, isIncluded: null, problem: `the file system did not answer within ${limitMs} ms` };
  const [problem, includes] = tried;
  return { pooler, file, config, problem, isIncluded: includes };
}

async function problemOf(file: string): Promise<string | null> {
  try {
    await includedFiles.tryReplace(await includedFiles.read(file));
    return null;
  } catch (error) {
    return errorMessage(error);
  }
}

/** Whether a configuration includes a file, or one that it includes does. @throws Error if it cannot be read */
async function isIncluded(file: string, config: string, depth: number): Promise<boolean> {
  const text = await readRegularFileLater(config, bytesMax);
  const named = [...text.matchAll(/^[ \t]*%include[ \t]+(\S+)[ \t\r]*$/gm)].flatMap(([, name]) => name ?? []);
  for (const name of named) {
    // A relative name belongs to the folder in which PgBouncer was started, which nobody knows here.
    if (!isAbsolute(name) && basename(name) === basename(file)) return true;
    const path = resolve(dirname(config), name);
    if ((await real(path)) === (await real(file))) return true;
    if (depth < depthMax && (await isIncluded(file, path, depth + 1).catch(() => false))) return true;
  }
  return false;
}

async function real(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}
