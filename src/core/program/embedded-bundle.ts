import { getRawAsset } from "node:sea";
import { Script } from "node:vm";

/**
 * Runs a CommonJS bundle that the single executable holds: a function of `require` and of its own URL, which it does
 * not have. V8's code cache beside it must fit, because the same build made it for the same Node.
 * @param name its name, without extension
 * @param load the `require` of the executable, which loads Node's own modules only
 */
export function runEmbeddedBundle(name: string, load: NodeJS.Require): void {
  // Text beyond ASCII is in comments only. Read like this, V8 stores one byte for each character.
  const source = contentOf(`${name}.cjs`).toString("latin1");
  const cachedData = contentOf(`${name}.cache`);
  const script = new Script(source, { filename: `${name}.cjs`, cachedData });
  if (script.cachedDataRejected === true) process.emitWarning(`V8 rejected the compiled code of ${name}.cjs`);
  script.runInThisContext()(load);
}

/** The content of a file, without a copy. */
function contentOf(name: string): Buffer {
  const asset = getRawAsset(name);
  return typeof asset === "string" ? Buffer.from(asset) : Buffer.from(asset);
}
