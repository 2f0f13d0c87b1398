/** What to do where nodes cannot be read because of certificates: not "look at pg1". */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Observation } from "../../../../src/core/cluster/observation.ts";
import { nodeOverview } from "../../../../src/core/health/documents/node-overview.ts";
import { situationOf, type Situation } from "../../../../src/core/health/documents/situation.ts";
import { viewAt } from "../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { failureOf } from "../../../../src/core/probe/client/failure.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";

/** The situation 10 s after some nodes began to fail with an error of TLS. */
function situation(nodes: readonly string[], failing: readonly string[], code: string): Situation {
  const watched = new ClusterFixture({ nodes });
  const [first = ""] = nodes;
  for (let atMs = 0; atMs <= 15_000; atMs += 1_000)
    for (const node of nodes)
      if (atMs >= 5_000 && failing.includes(node)) watched.fail(node, "tls", atMs);
      else if (node === first) watched.lead(node, atMs);
      else watched.follow(node, atMs);
  const failure = failureOf(Object.assign(new Error("the words of OpenSSL"), { code }));
  const said = (one: Observation): Observation => (failing.includes(one.node.name) ? { ...one, failure } : one);
  const cluster = { ...watched.cluster, nodes: watched.cluster.nodes.map(said) };
  const view = viewAt(cluster, watched.policy, 15_000);
  const overviews = view.cluster.nodes.map((node) => nodeOverview(view, node, []));
  return situationOf(view, { nodes: overviews, asked: [], wallMs: 0 });
}

const all = ["pg1", "pg2", "pg3"];

/** Which nodes fail, with which error, what the cluster is then, and what to do. */
const rows: readonly (readonly [readonly string[], readonly string[], string, string, RegExp])[] = [
  [all, ["pg2"], "CERT_HAS_EXPIRED", "degraded", /^Renew the certificate of pg2 /],
  [all, ["pg1"], "CERT_HAS_EXPIRED", "without a primary", /^Renew the certificate of pg1 /],
  [all, all, "SELF_SIGNED_CERT_IN_CHAIN", "blind", /^Give rolecall the authority .* of the nodes: `tls\.ca` /],
  [all, all, "ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED", "blind", /^Renew the client certificate, `tls\.cert` /],
  [["pg1"], ["pg1"], "ERR_TLS_CERT_ALTNAME_INVALID", "without a primary", /^Issue a certificate .* pg1 is reached/],
  // The mirror image: an error that is not of certificates.
  [all, ["pg2"], "ERR_SSL_WRONG_VERSION_NUMBER", "degraded", /^Look at pg2 and its Patroni/],
];

for (const [nodes, failing, code, condition, action] of rows)
  test(`${failing.join(", ")} of ${nodes.length} with ${code}: ${condition}, and what to do`, () => {
    const found = situation(nodes, failing, code);
    assert.equal(found.condition, condition);
    assert.match(found.action ?? "", action);
  });
