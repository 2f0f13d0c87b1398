import { type ConfigIssue, lackIssue, valueIssue } from "../model/issue.ts";
import { checkCertificate } from "./cluster-checks.ts";
import type { ValidParts } from "./valid-parts.ts";

/** Checks the fleet against the keys beside it: its members follow each other, over their admin listeners. */
export function checkFleet({ fleet, follow, listen }: ValidParts): readonly ConfigIssue[] {
  if (fleet === null) return [];
  // An invalid listener could be the one that is needed.
  const lacksAdmin = listen.length > 0 && listen.every(({ listener }) => (listener?.dialect ?? "admin") !== "admin");
  return [
    ...(follow.length === 0 ? [] : [valueIssue(["follow"], follow, followAllowed)]),
    ...(lacksAdmin
      ? [lackIssue(["listen"], "a listener of dialect admin, because the other members of the fleet reach it", "none")]
      : []),
    ...checkCertificate(fleet.tls, ["fleet", "tls"]),
    ...checkCertificate(fleet.etcdTls, ["fleet", "etcd", "tls"]),
  ];
}

const followAllowed =
  "left out, because fleet decides what is followed: a cluster that the fleet must not share may have a follow of its own";
