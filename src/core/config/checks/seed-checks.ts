import { listOf, objectOf } from "../../cluster/values/json.ts";
import { type ConfigIssue, valueIssue } from "../model/issue.ts";
import type { CheckFeature } from "./valid-parts.ts";

/** A kind of addresses of `discover` that name nodes by other means than a host and a port. */
export interface SeedScheme {
  /** With its colon. */
  readonly protocol: string;
  /** What such an address must be, for people. */
  readonly allowed: string;
  readonly isValid: (address: string) => boolean;
}

/** Checks that each address of `discover` is of a kind that this program knows, and valid for it. */
export function seedCheck(schemes: readonly SeedScheme[]): CheckFeature {
  return ({ clusters }) =>
    listOf(clusters).flatMap((cluster, index) =>
      listOf(objectOf(cluster)["discover"]).flatMap((address, at): readonly ConfigIssue[] => {
        // What is no text, and what is http, the schema checks.
        if (typeof address !== "string" || !/^[a-z][a-z0-9+.-]*:\/\//.test(address) || /^https?:/.test(address))
          return [];
        const scheme = schemes.find(({ protocol }) => address.startsWith(protocol));
        if (scheme?.isValid(address) === true) return [];
        const known = schemes.map(({ protocol }) => `${protocol}//`).join(", ");
        const allowed =
          scheme?.allowed ?? `an address with http or https${known === "" ? "" : `, or one that begins with ${known}`}`;
        return [valueIssue(["clusters", index, "discover", at], address, allowed)];
      }),
    );
}
