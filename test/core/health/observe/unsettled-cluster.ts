/** Clusters whose members' addresses are not settled yet (rule 10). Addresses are hosts, as `a`. */
import { noContact, type Contact } from "../../../../src/core/cluster/contact.ts";
import type { Report } from "../../../../src/core/cluster/documents/report.ts";
import type { Node } from "../../../../src/core/cluster/node.ts";
import { neverProbed, type Observation, type Proof } from "../../../../src/core/cluster/observation.ts";
import type { ClusterState, WitnessView } from "../../../../src/core/cluster/snapshot.ts";
import type { EvaluationContext } from "../../../../src/core/health/health-policy.ts";
import { discovered, withNodes } from "../../../../src/core/health/observe/membership.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";
import { listingView, memberAt } from "../../../fake/listing-view.ts";
import { reportOf } from "../../../fake/node-documents.ts";

/** In ms of rolecall's clock. */
export const nowMs = 100_000;
/** The cluster's database system, and another one. */
export const own = "7000000000000000001";
export const other = "7000000000000000002";

export function urlOf(host: string): string {
  return `http://${host}:8008`;
}

function hostOf(api: string | null): string {
  return api === null ? "-" : new URL(api).hostname;
}

/** A report of a server that states this name; `null`: it states none. */
export function statedBy(name: string | null, system = own): Report {
  const patroni = { version: "4.1.4", scope: "demo", ...(name === null ? {} : { name }) };
  return reportOf("", { patroni, database_system_identifier: system });
}

/** A list: member name -> its host; `-`: it has no usable address for it. @param db the host of all databases */
export function lists(rows: Readonly<Record<string, string>>, db: string | null = null): WitnessView {
  const usable = Object.entries(rows).filter(([, host]) => host !== "-");
  const view = listingView({});
  const members = usable.map(([name, host]) => ({
    ...memberAt(name, urlOf(host)),
    ...(db === null ? {} : { host: db, port: 5432 }),
  }));
  return {
    ...view,
    members: new Map(members.map((member) => [member.name, member])),
    unaddressed: new Set(Object.keys(rows).filter((name) => rows[name] === "-")),
  };
}

/** What a server said at an address that is no proved node's. */
export function says(states: string | null, view: WitnessView | null = null, more: Partial<Contact> = {}): Contact {
  const answer = { report: statedBy(states), hasLock: false, sentAtMs: nowMs, sentAtWallMs: 0 };
  return { ...noContact, wasAsked: true, answer, view, namedInRow: 1, ...more };
}

/** A node, as `pg2 b settled`: its name, its address, and whether that has proved itself. */
export function nodeAs(text: string, more: Partial<Observation> & { readonly of?: Partial<Node> } = {}): Observation {
  const [name = "", host = "", proof = "none"] = text.split(" ");
  const { of = {}, ...evidence } = more;
  const known = neverProbed({
    ...discovered(memberAt(name, urlOf(host))),
    ...(host === "-" ? { api: null } : {}),
    ...of,
  });
  return { ...known, proof: proof as Proof, ...evidence };
}

/** What is known of a cluster. */
export interface Given {
  readonly nodes?: readonly Observation[];
  /** Address -> what answers there. */
  readonly at?: Readonly<Record<string, Contact>>;
  /** Node -> its list. */
  readonly views?: Readonly<Record<string, WitnessView>>;
  /** The configured addresses. */
  readonly discover?: readonly string[];
  readonly state?: Partial<ClusterState>;
}

export function clusterOf({ nodes = [], at = {}, views = {}, discover = ["s"], state = {} }: Given): Input {
  const configured = discover.map(urlOf);
  const { cluster: empty, policy } = new ClusterFixture({ nodes: [], cluster: { discover: configured } });
  const known = withNodes({ ...empty, scope: "demo" }, nodes);
  const contacts = new Map(Object.entries(at).map(([host, contact]) => [urlOf(host), contact]));
  const cluster = { ...known, contacts, leaderViews: new Map(Object.entries(views)), ...state };
  return { cluster, context: { policy: { ...policy, discovers: true, configured }, nowMs } };
}

/** A cluster and how it is judged. */
export interface Input {
  readonly cluster: ClusterState;
  readonly context: EvaluationContext;
}

/** The nodes, each as {@link nodeAs} takes it. */
export function describeAddresses({ nodes }: ClusterState): readonly string[] {
  return nodes.map(({ node, proof }) => `${node.name} ${hostOf(node.api)} ${proof}`);
}

/** Evidence of a node that has failed `fall` times in a row. */
export const down = { failuresInRow: 3 };
