import { createHash } from "node:crypto";
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

/** Reads a file of the page by its name, as `vendor/preact.js`; `null` if there is none. */
type ReadPageFile = (name: string) => Buffer | null;

/**
 * The static files of the live page. They are read once, at the first request. A request only selects one of them by
 * its name: no path of a request reaches the file system.
 */
export class PageFiles {
  readonly #read: ReadPageFile;
  #files: Promise<ReadonlyMap<string, PageFile>> | null = null;

  constructor(read: ReadPageFile) {
    this.#read = read;
  }

  /** Returns a file by its name, as `vendor/preact.js`; `undefined` if there is none. */
  async get(name: string): Promise<PageFile | undefined> {
    return (await this.all()).get(name);
  }

  /** All files by name. If they cannot be read, the next call tries again. */
  all(): Promise<ReadonlyMap<string, PageFile>> {
    this.#files ??= readFiles(this.#read).catch((error: unknown) => {
      this.#files = null;
      throw error;
    });
    return this.#files;
  }
}

/** Reads the files that the build listed in `files.json`. */
async function readFiles(read: ReadPageFile): Promise<ReadonlyMap<string, PageFile>> {
  const names: readonly string[] = JSON.parse(required(read, "files.json").toString());
  const files = new Map<string, PageFile>();
  for (const name of names) {
    const type = types.get(extname(name));
    if (type === undefined) continue;
    const plain = required(read, name);
    const etag = `"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`;
    files.set(name, { type, etag, plain, gzipped: await compress(plain, { level: 9 }) });
  }
  return files;
}

function required(read: ReadPageFile, name: string): Buffer {
  const content = read(name);
  if (content === null) throw new Error(`Cannot serve the live page: ${name} is missing`);
  return content;
}
