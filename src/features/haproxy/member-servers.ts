import type { HaproxyBackendConfig, HaproxyConfig } from "../../core/config/model/config.ts";
import { formatHostPort } from "../../core/config/values/address.ts";
import type { Logger } from "../../core/log/logger.ts";
import type { BalancerProblems } from "../../core/balancing/balancer-problems.ts";
import type { ClusterMember, ClusterMembers } from "../../core/balancing/cluster-members.ts";
import { isServerName } from "../../core/balancing/pool-verdicts.ts";
import { readBackends } from "./apply-changes.ts";
import { HostAddresses, type LookUp } from "../../core/balancing/host-addresses.ts";
import { busyServers, memberSteps, startCommands, type MemberServer, type MemberStep } from "./member-steps.ts";
import type { RuntimeSession } from "./runtime-session.ts";
import { printed, type ServerState } from "./server-state.ts";

/** What it depends on. */
export interface MemberServersContext {
  /** The name of the balancer, for the log. */
  readonly balancer: string;
  readonly log: Pick<Logger, "info">;
  readonly problems: Pick<BalancerProblems, "report" | "resolve">;
  /** Ms of rolecall's clock. */
  readonly now: () => number;
  readonly members: (cluster: string) => ClusterMembers;
  /** Replaced in tests. */
  readonly lookUp?: LookUp | undefined;
}

/** A backend as HAProxy has it, and what could not be done there. */
interface FoundBackend {
  readonly states: ReadonlyMap<string, ServerState>;
  readonly version: string;
  readonly undone: Map<string, string>;
}

const missing = "HAProxy has no server of this name";

type FollowingBackend = HaproxyBackendConfig & { readonly followMembers: string };

/** 2.4 adds servers without checks only, 2.5 in its experimental mode only. */
const versionNeeded = [2, 6] as const;

const logged = { add: "added", start: "started", move: "moved", leave: "leaves", stay: "stays", remove: "removed" };

/** Keeps the servers of backends with `follow_members` those of the members of their clusters. */
export class MemberServers {
  readonly #backends: readonly FollowingBackend[];
  readonly #context: MemberServersContext;
  readonly #addresses: HostAddresses;
  /** What the last {@link follow} could not do, by `backend/server`. */
  #undone: ReadonlyMap<string, string> = new Map();

  constructor({ backends }: HaproxyConfig, context: MemberServersContext) {
    this.#backends = backends.flatMap((backend) =>
      backend.followMembers === null ? [] : [{ ...backend, followMembers: backend.followMembers }],
    );
    this.#context = context;
    this.#addresses = new HostAddresses(context.now, context.lookUp);
  }

  /**
   * Adds, moves and removes servers.
   * @returns those that are not in the state of their last verdict any more, as `backend/server`
   * @throws RuntimeApiError if an answer is missing: the next call does the rest
   */
  async follow(session: RuntimeSession, version: string): Promise<ReadonlySet<string>> {
    if (this.#backends.length === 0) return new Set();
    const backends = await readBackends(
      session,
      this.#backends.map(({ name }) => name),
    );
    const undone = new Map<string, string>();
    const reset: string[] = [];
    for (const backend of this.#backends) {
      const states = backends.get(backend.name) ?? null;
      if (states !== null) reset.push(...(await this.#followIn(session, backend, { states, version, undone })));
    }
    this.#report(undone);
    return new Set(reset);
  }

  /**
   * Why a server is missing in HAProxy, after the last {@link follow}.
   * @returns `null` if that is no problem: its node left the cluster, or did not answer yet
   */
  whyMissing(backend: string, server: string): string | null {
    const isFollowing = this.#backends.some(({ name }) => name === backend);
    return isFollowing ? (this.#undone.get(`${backend}/${server}`) ?? null) : missing;
  }

  async #followIn(session: RuntimeSession, backend: FollowingBackend, found: FoundBackend): Promise<readonly string[]> {
    const { name, followMembers: words, cluster } = backend;
    const { states, undone } = found;
    const { isComplete, members } = this.#context.members(cluster);
    const servers = members
      .filter(({ node }) => isServerName(node))
      .map((member) => this.#serverOf(name, member, { ...found, isMissing: !states.has(member.node) }));
    const steps = memberSteps({ backend: name, words, isComplete, members: servers }, states);
    const busy = steps.some(({ kind }) => kind === "remove") ? await sessionsOf(session, name) : new Set<string>();
    const due = steps.filter(({ kind, server }) => !(kind === "remove" && busy.has(server)));
    const taken = await this.#take(session, { name, steps: due, undone });
    // Only those that HAProxy has added: another server may have got the name meanwhile.
    const added = taken.filter(({ kind }) => kind === "add");
    await session.run(added.flatMap(({ server }) => startCommands(name, server)));
    return taken.filter(({ kind }) => kind !== "leave" && kind !== "remove").map(({ server }) => `${name}/${server}`);
  }

  #serverOf(
    backend: string,
    { node, database, isProved }: ClusterMember,
    { version, undone, isMissing }: FoundBackend & { readonly isMissing: boolean },
  ): MemberServer {
    const lacks = (why: string): MemberServer => {
      if (isMissing) undone.set(`${backend}/${node}`, `${missing}: ${why}`);
      return { server: node, address: null };
    };
    if (!isProved) return { server: node, address: null };
    if (!canAddServers(version)) return lacks(additionRefused(version));
    if (database === null) return lacks("the address of its database is unknown");
    const host = this.#addresses.of(database.host);
    if (host === null) return lacks(`${database.host} cannot be resolved`);
    return { server: node, address: host === undefined ? null : { ...database, host } };
  }

  /** @returns the steps that HAProxy has accepted */
  async #take(
    session: RuntimeSession,
    {
      name,
      steps,
      undone,
    }: { readonly name: string; readonly steps: readonly MemberStep[] } & Pick<FoundBackend, "undone">,
  ): Promise<readonly MemberStep[]> {
    const answers = [...(await session.run(steps.flatMap(({ commands }) => commands)))];
    const { balancer, log } = this.#context;
    return steps.filter(({ kind, server, address, commands }) => {
      const refusal = answers.splice(0, commands.length).find((answer) => !isAccepted(answer));
      if (refusal === undefined) {
        const shown = address === null ? {} : { address: formatHostPort(address) };
        log.info({ balancer, backend: name, server, ...shown }, `balancer's server ${logged[kind]}`);
        return true;
      }
      const refused = `HAProxy refused to ${kind} it: ${printed(refusal)}`;
      undone.set(`${name}/${server}`, kind === "add" ? `${missing}: ${refused}` : refused);
      return false;
    });
  }

  #report(undone: ReadonlyMap<string, string>): void {
    const { problems } = this.#context;
    for (const [server, problem] of undone) problems.report(`server ${server}`, problem);
    for (const server of this.#undone.keys()) if (!undone.has(server)) problems.resolve(`server ${server}`);
    this.#undone = undone;
  }
}

/** `show stat` of the servers of a backend: its objects of type 4. */
async function sessionsOf(session: RuntimeSession, backend: string): Promise<ReadonlySet<string>> {
  const [answer = ""] = await session.run([`show stat ${backend} 4 -1`]);
  return busyServers(answer);
}

/** HAProxy answers with words also when it has done what was asked. */
function isAccepted(answer: string): boolean {
  return (
    answer === "" || /^(?:New server registered|Server deleted|IP changed|port changed|no need to change)/.test(answer)
  );
}

/** Whether a version of HAProxy adds servers that it checks, without its experimental mode. */
export function canAddServers(version: string): boolean {
  const [major = 0, minor = 0] = version.split(/[.-]/).map(Number);
  return major > versionNeeded[0] || (major === versionNeeded[0] && minor >= versionNeeded[1]);
}

/** Why a version of HAProxy gets no server. */
export function additionRefused(version: string): string {
  return `HAProxy ${version} cannot add it, ${versionNeeded.join(".")} can`;
}
