/** Where the documentation explains a reason. */
import { join } from "node:path";
import type { Reason } from "../health/reason.ts";
import { programPath } from "../program/program-files.ts";

/** The page in the package. The single executable and the image have no documents. */
const page = "docs/reasons.md";

let installedPage: string | null | undefined;

/**
 * @param reason why a node is unfit
 * @returns the section of the page on reasons, as a path that exists on this machine: `docs/reasons.md#lagging` in the
 * folder of the package, `/usr/lib/node_modules/rolecall/docs/reasons.md#lagging` elsewhere; `null` where the
 * documents are not installed
 */
export function reasonLink(reason: Reason): string | null {
  if (installedPage === undefined) installedPage = pagePath(process.cwd());
  return installedPage === null ? null : `${installedPage}#${reason}`;
}

/**
 * @param workingDirectory an absolute path
 * @returns the path of the page on reasons: `docs/reasons.md` in the folder of the package, absolute elsewhere; `null`
 * where it is not installed
 */
export function pagePath(workingDirectory: string): string | null {
  const path = programPath(page);
  return path === join(workingDirectory, page) ? page : path;
}

/** The link as a field of a log line: no field for a state without a reason, or without installed documents. */
export function seeField(reason: Reason | null): { readonly see?: string } {
  const link = reason === null ? null : reasonLink(reason);
  return link === null ? {} : { see: link };
}
