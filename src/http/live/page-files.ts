import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

/** One static file of the live page, ready to be sent. */
export interface PageFile {
  readonly type: string;
  readonly etag: string;
  readonly plain: Buffer;
  readonly gzipped: Buffer;
}

/** The types of the files that are served; other files are not. */
const types: ReadonlyMap<string, string> = new Map([
  [".html", "text/html; charset=utf-8"],
  [".js", "text/javascript; charset=utf-8"],
  [".css", "text/css; charset=utf-8"],
  [".json", "application/json"],
  [".svg", "image/svg+xml"],
  [".txt", "text/plain; charset=utf-8"],
]);

const compress = promisify(gzip);

/**
 * The static files of the live page. They are read once, at the first request. A request only selects one of them by
 * its name: no path of a request reaches the file system.
 */
export class PageFiles {
  readonly #folder: URL;
  #files: Promise<ReadonlyMap<string, PageFile>> | null = null;

  /** @param folder ends in a slash */
  constructor(folder: URL) {
    this.#folder = folder;
  }

  /** Returns a file by its name relative to the folder, as `vendor/preact.js`; `undefined` if there is none. */
  async get(name: string): Promise<PageFile | undefined> {
    return (await this.all()).get(name);
  }

  /** All files by name. If they cannot be read, the next call tries again. */
  all(): Promise<ReadonlyMap<string, PageFile>> {
    this.#files ??= readFiles(this.#folder).catch((error: unknown) => {
      this.#files = null;
      throw error;
    });
    return this.#files;
  }
}

async function readFiles(folder: URL): Promise<ReadonlyMap<string, PageFile>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const root = decodeURIComponent(folder.pathname);
  const files = new Map<string, PageFile>();
  for (const entry of entries) {
    const path = `${entry.parentPath.replace(/\/?$/, "/")}${entry.name}`;
    const type = types.get(extname(entry.name));
    if (!entry.isFile() || type === undefined || !path.startsWith(root)) continue;
    const plain = await readFile(path);
    const etag = `"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`;
    files.set(path.slice(root.length), { type, etag, plain, gzipped: await compress(plain, { level: 9 }) });
  }
  return files;
}
