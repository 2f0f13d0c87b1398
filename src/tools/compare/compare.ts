import { countText } from "../../core/health/wording.ts";
import { readFileSync } from "node:fs";
import type { Config } from "../../core/config/model/config.ts";
import type { NodeClient } from "../../core/probe/client/client.ts";
import { CommandError } from "../../core/command/framework/command-error.ts";
import { SamplerSet, type Sampler } from "./sampler-set.ts";
import type { Comparison, CheckResult } from "./comparison.ts";
import { readUncompared } from "./haproxy-directives.ts";
import { readHaproxyChecks, rejectionOf, type HaproxyCheck } from "./haproxy-file.ts";
import { otherServices, type ComparedNode } from "./haproxy-services.ts";
import { comparisonData, renderComparison } from "./report.ts";
import { type ComparisonRun, save, startRun } from "./comparison-run.ts";
import type { ResponseCounts } from "./saved-comparison.ts";
import { probeLocally } from "../../app/client/local-probe.ts";
import { type StatusCluster } from "../../core/command/client/cluster-status.ts";
import { requireNamedConfig } from "../../app/client/probed-status.ts";
import { RolecallClient } from "../../core/command/client/rolecall-client.ts";
import type { CommandContext } from "../../core/command/framework/command-context.ts";
import { formatDuration } from "../../core/command/output/figures.ts";
import { formatHostPort } from "../../core/config/values/address.ts";
import { errorMessage } from "../../core/cluster/values/error-message.ts";

/** The checks to compare if neither the command line nor an haproxy.cfg names any. */
const defaultChecks = ["/primary", "/replica", "/read-only"];
/** The maximum number of checks. Further checks are ignored. */
const checksMax = 50;

/** How often the state file is written, in ms. A crash loses at most the samples of this time. */
const saveIntervalMs = 2_000;

/**
 * `rolecall compare`: sends the same checks to every node and to rolecall, and compares the answers. If the command is
 * interrupted, it prints the result so far. With `--state`, a later run continues with the counts of this one.
 */
export async function compare(context: CommandContext): Promise<void> {
  const { args, result, progress, signal } = context;
  const forMs = args.duration("for", "1m");
  const intervalMs = args.duration("interval", "1s");
  const membersIntervalMs = args.duration("members-interval", "1m");
  if (args.text("config") === null && args.text("discover") === null)
    throw new CommandError("RC001", "Cannot compare: --config or --discover must name the nodes, got neither");
  const config = await requireNamedConfig(context);
  const members = await fetchMembers(context, config);
  const checks = selectChecks(context, config, members);
  const server = new RolecallClient(context, "node", { ownListener: ownListenerOf(config) });
  const run = startRun(context, config, { checks, server });
  const samplers = new SamplerSet(config);
  samplers.update(members);
  if (samplers.size === 0) throw new CommandError("RC001", "Cannot compare: no cluster has members");
  context.onInterrupt(() => {
    save(context, run);
    report(context, run, samplers.size);
    const file = args.text("state");
    return file === null
      ? "The next run counts from zero again. Runs with --state FILE continue the counts."
      : `The counts are saved in ${file}: the same command continues them.`;
  });
  const endMs = run.startedAtMs + forMs - run.earlierRunsMs;
  let membersReadMs = performance.now();
  try {
    do {
      const roundStartMs = performance.now();
      progress.report(`comparing: ${run.rounds} rounds, ${formatDuration(Math.max(0, endMs - roundStartMs))} left`);
      const isMembersDue = roundStartMs - membersReadMs >= membersIntervalMs;
      const sampled = Promise.all(samplers.all.map((sampler) => sample(sampler, { checks, server, ...run })));
      const [current] = await Promise.all([isMembersDue ? fetchMembers(quiet(context), config) : [], sampled]);
      // An empty list changes nothing.
      samplers.update(current);
      if (isMembersDue) membersReadMs = roundStartMs;
      run.rounds += 1;
      result.data = dataOf(run);
      result.cover("duration", "incomplete", { detail: `${run.rounds} rounds so far` });
      if (performance.now() - run.savedAtMs >= saveIntervalMs) save(context, run);
      await pause(Math.min(roundStartMs + intervalMs, endMs) - performance.now());
    } while (performance.now() < endMs && !signal.aborted);
  } finally {
    samplers.close();
  }
  progress.done();
  save(context, run);
  result.cover("duration", "complete", { detail: `${run.rounds} rounds in ${formatDuration(forMs)}` });
  report(context, run, samplers.size);
}

/** The health listener of a configuration that is asked unless the user names a server; `null`: the usual one. */
function ownListenerOf({ listen }: Config): URL | null {
  const own = listen.find(({ dialect, node, port }) => dialect === "node" && node === null && port !== 0);
  if (own === undefined) return null;
  const isAny = own.address === "::" || own.address === "0.0.0.0";
  const host = isAny ? "127.0.0.1" : own.address;
  return new URL(`${own.access.tls === null ? "http" : "https"}://${formatHostPort({ host, port: own.port })}`);
}

function dataOf({ rounds, responses, comparison }: ComparisonRun): object {
  return { rounds, heard: responses, ...comparisonData(comparison.rows) };
}

/** Prints the counts, and reports the differences as findings. */
function report(context: CommandContext, run: ComparisonRun, nodes: number): void {
  const { result, print, style } = context;
  result.data = dataOf(run);
  coverResponses(context, run.responses, nodes);
  print(renderComparison(comparisonData(run.comparison.rows), style));
  diagnoseDifferences(context, run.comparison, run.responses.silent);
}

type LocalProbeContext = Pick<CommandContext, "args"> & Parameters<typeof probeLocally>[1];

/** A context without output, for updates of the members: only the first probe of the nodes reports their problems. */
function quiet({ args }: CommandContext): LocalProbeContext {
  return { args, progress: { report: () => {}, done: () => {} }, result: { diagnose: () => {} } };
}

/** Probes the nodes for the selected clusters and their members. Does not use rolecall's list: it is under test. */
async function fetchMembers(context: LocalProbeContext, config: Config): Promise<readonly StatusCluster[]> {
  const selected = context.args.text("cluster");
  const probed = await probeLocally(config, context);
  return probed.overview().clusters.filter(({ cluster }) => selected === null || cluster === selected);
}

function coverResponses({ result }: CommandContext, { node, rolecall, silent }: ResponseCounts, nodes: number): void {
  result.cover("nodes", node > 0 ? "complete" : "incomplete", {
    detail: `${countText(node, "response")} of ${countText(nodes, "node")}`,
  });
  result.cover("rolecall", rolecall > 0 ? "complete" : "incomplete", {
    detail: `${rolecall} responses, ${silent} requests without a response`,
  });
}

function diagnoseDifferences({ result }: CommandContext, comparison: Comparison, silent: number): void {
  for (const { node, check, lasting } of comparison.rows) {
    for (const [answers, { isRolecallFit, count }] of lasting) {
      result.diagnose(isRolecallFit ? "RC040" : "RC043", {
        message: `${node} ${check}: ${answers}, in ${countText(count, "sample")} after the difference had lasted for max_age`,
      });
    }
  }
  if (silent > 0)
    result.diagnose("RC005", { message: `rolecall did not answer ${silent} requests`, severity: "warning" });
}

interface SampleTarget {
  readonly checks: readonly string[];
  readonly server: RolecallClient;
  readonly comparison: Comparison;
  readonly responses: ResponseCounts;
}

/**
 * Sends each check to the node and to rolecall at the same time. Checks run in sequence because nodes have few workers.
 */
async function sample(
  { name, base, client }: Sampler,
  { checks, server, comparison, responses }: SampleTarget,
): Promise<void> {
  for (const check of checks) {
    const atMs = performance.now();
    const [node, rolecall] = await Promise.all([queryNode(client, check), queryRolecall(server, `${base}${check}`)]);
    if (node.answer !== "silent") responses.node += 1;
    if (rolecall === null) responses.silent += 1;
    else {
      responses.rolecall += 1;
      comparison.add({ node: name, check, atMs }, node, rolecall);
    }
  }
}

async function queryNode(client: NodeClient, check: string): Promise<CheckResult> {
  const reply = await client.get(check);
  return "failure" in reply
    ? { fit: false, answer: "silent" }
    : { fit: reply.status === 200, answer: String(reply.status) };
}

async function queryRolecall(server: RolecallClient, path: string): Promise<CheckResult | null> {
  try {
    const { status, headers } = await server.get(path);
    const reason = headers["x-rolecall-reason"];
    return { fit: status === 200, answer: typeof reason === "string" ? `${status} ${reason}` : String(status) };
  } catch (error) {
    if (error instanceof CommandError) return null;
    throw error;
  }
}

/**
 * Selects the checks to compare: those of the command line, else those of the haproxy.cfg, else the default ones.
 * Checks of the haproxy.cfg that rolecall rejects become findings (RC041, RC042), and so do directives by which HAProxy
 * judges and the comparison does not, and checks of other services (RC044).
 */
function selectChecks(
  { args, result }: CommandContext,
  { ignoreParams }: Config,
  members: readonly StatusCluster[],
): readonly string[] {
  const file = args.text("from-haproxy");
  if (file === null) result.cover("haproxy_checks", "not_applicable", { detail: "no --from-haproxy" });
  const text = file === null ? "" : readText(file);
  const others = otherServices(text, members.flatMap(nodesOf));
  const otherSections = new Set(others.map(({ section }) => section));
  const found = readHaproxyChecks(text).filter(({ section }) => !otherSections.has(section));
  for (const check of found) {
    const rejected = rejectionOf(check, ignoreParams);
    if (rejected !== null && file !== null) {
      result.diagnose(rejected.kind === "path" ? "RC042" : "RC041", {
        message: `${rejected.check} in ${rejected.section}: ${rejected.message}`,
        location: { file, line: rejected.line, kind: "source" },
      });
    }
  }
  if (file !== null) {
    for (const { check, section, line } of others)
      result.diagnose("RC044", {
        message: `the check ${check} of ${section} is not compared: it is of another service, no server there is a node of ${members.map(({ cluster }) => cluster).join(", ")}`,
        severity: "info",
        location: { file, line, kind: "source" },
      });
    const uncompared = readUncompared(text).filter(({ section }) => !otherSections.has(section));
    for (const { directive, section, line, why, action } of uncompared)
      result.diagnose("RC044", {
        message: `${directive} in ${section} is not compared: ${why}`,
        ...(action === undefined ? {} : { action }),
        location: { file, line, kind: "source" },
      });
    const ofOthers = others.length === 0 ? "" : `, ${countText(others.length, "check")} of other services`;
    const detail = `${countText(found.length, "check")} in ${file}, ${countText(uncompared.length, "directive")} not compared${ofOthers}`;
    result.cover("haproxy_checks", "complete", { detail });
  }
  const named = args.list("check").map((check) => (check.startsWith("/") ? check : `/${check}`));
  const inFile = found.map(({ check }: HaproxyCheck) =>
    check.replace(/^\/clusters\/[^/]+\/nodes\/[^/]+|^\/nodes\/[^/]+/, ""),
  );
  const selected = [...new Set(named.length > 0 ? named : inFile.length > 0 ? inFile : defaultChecks)].map((check) =>
    check.replaceAll(/[^!-~]/g, encodeURIComponent),
  );
  return selected.slice(0, checksMax);
}

/** A node that is known only by its exporter has no API to compare with. */
function nodesOf({ nodes }: StatusCluster): readonly ComparedNode[] {
  return nodes.flatMap(({ node, api }) => (api === null ? [] : [{ name: node, api }]));
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new CommandError("RC006", `Cannot read --from-haproxy: ${errorMessage(error)}`);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, ms));
  });
}
