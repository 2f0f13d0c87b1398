import { type ConfigIssue, lackIssue, valueIssue } from "../../../core/config/model/issue.ts";
import { checkCertificate } from "../../../core/config/checks/cluster-checks.ts";
import { valid, type ValidParts } from "../../../core/config/checks/valid-parts.ts";
import { tlsSchema } from "../../../core/config/schema/tls-schema.ts";
import { isObject, objectOf } from "../../../core/cluster/values/json.ts";

/** Checks the fleet against the keys beside it: its members follow each other, over their admin listeners. */
export function checkFleet(
  { fleet: written }: Readonly<Record<string, unknown>>,
  { follow, listen }: ValidParts,
): readonly ConfigIssue[] {
  if (!isObject(written)) return [];
  const schema = tlsSchema("the members");
  // An invalid listener could be the one that is needed.
  const lacksAdmin = listen.length > 0 && listen.every(({ listener }) => (listener?.dialect ?? "admin") !== "admin");
  return [
    ...(follow.length === 0 ? [] : [valueIssue(["follow"], follow, followAllowed)]),
    ...(lacksAdmin
      ? [lackIssue(["listen"], "a listener of dialect admin, because the other members of the fleet reach it", "none")]
      : []),
    ...checkCertificate(valid(schema, written["tls"]), ["fleet", "tls"]),
    ...checkCertificate(valid(schema, objectOf(written["etcd"])["tls"]), ["fleet", "etcd", "tls"]),
  ];
}

const followAllowed =
  "left out, because fleet decides what is followed: a cluster that the fleet must not share may have a follow of its own";
