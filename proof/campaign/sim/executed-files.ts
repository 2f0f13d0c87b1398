import { Session } from "node:inspector/promises";
import { readdirSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

/** Finds the files of `src` of which a campaign executed no function, by the coverage that V8 counts. */
export class ExecutedFiles {
  readonly #session = new Session();
  readonly #source: URL;

  /** @param source the folder of the compiled `src`, as a file URL that ends with a slash */
  constructor(source: URL) {
    this.#source = source;
  }

  /** Counts from now on. It makes everything slower. */
  async start(): Promise<void> {
    this.#session.connect();
    await this.#session.post("Profiler.enable");
    await this.#session.post("Profiler.startPreciseCoverage", { callCount: false, detailed: false });
  }

  /** Ends counting. @returns the files without any executed function, by their paths within `src` */
  async stop(): Promise<{ readonly executed: number; readonly missing: readonly string[] }> {
    const { result } = await this.#session.post("Profiler.takePreciseCoverage");
    await this.#session.post("Profiler.stopPreciseCoverage");
    this.#session.disconnect();
    const executed = new Set(
      // The first function of a module is the module itself: importing it is not enough.
      result.filter(({ functions }) => functions.slice(1).some(isCounted)).map(({ url }) => url),
    );
    const folder = fileURLToPath(this.#source);
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".js"));
    const missing = files.filter((file) => !executed.has(pathToFileURL(`${folder}${file}`).href)).sort();
    return { executed: files.length - missing.length, missing: missing.map((file) => file.replace(/\.js$/, ".ts")) };
  }
}

function isCounted({ ranges }: { readonly ranges: readonly { readonly count: number }[] }): boolean {
  return (ranges[0]?.count ?? 0) > 0;
}
