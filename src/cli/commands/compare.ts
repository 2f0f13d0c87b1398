import { readFileSync } from "node:fs";
import type { Config } from "../../config/model/config.ts";
import type { NodeClient } from "../../probe/client/client.ts";
import { CommandError } from "../framework/command.ts";
import { Samplers, type Sampler } from "../compare/samplers.ts";
import { Comparison, type CheckResult } from "../compare/comparison.ts";
import { readHaproxyChecks, refusalOf, type HaproxyCheck } from "../compare/haproxy-file.ts";
import { comparisonData, renderComparison } from "../compare/report.ts";
import { probeOnce, type ProbeReporter } from "../client/probe-once.ts";
import { requireConfig, type StatusCluster } from "../client/cluster-status.ts";
import { Server } from "../client/server.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { formatDuration } from "../output/figures.ts";

/** What is asked where the command line says nothing. */
const usualChecks = ["/primary", "/replica", "/read-only"];
/** More different checks than any haproxy.cfg needs. */
const checksMax = 50;

/** `rolecall compare`: asks every node and rolecall the same, and counts. What was counted so far is kept if it is ended early. */
export async function compare(context: CommandContext): Promise<void> {
  const { args, result, print, style, progress, signal } = context;
  const forMs = args.duration("for", "1m");
  const intervalMs = args.duration("interval", "1s");
  const membersMs = args.duration("members-interval", "1m");
  if (args.text("config") === null && args.text("discover") === null)
    throw new CommandError("RC001", "--config or --discover must say which nodes to ask");
  const config = requireConfig(context);
  const checks = checksToAsk(context, config);
  const server = new Server(context, "node");
  const askers = new Samplers(config);
  askers.follow(await membersNow(context, config));
  if (askers.size === 0) throw new CommandError("RC001", "there is no node to ask: no cluster has members");
  const comparison = new Comparison(config.probe.maxAgeMs);
  const heard = { node: 0, rolecall: 0, silent: 0 };
  const endsMs = performance.now() + forMs;
  let rounds = 0;
  let readMs = performance.now();
  try {
    do {
      const beganMs = performance.now();
      progress.say(`comparing: ${rounds} rounds, ${formatDuration(Math.max(0, endsMs - beganMs))} to go`);
      const isDue = beganMs - readMs >= membersMs;
      const asked = Promise.all(askers.all.map((asker) => askBoth(asker, { checks, server, comparison, heard })));
      const [members] = await Promise.all([isDue ? membersNow({ args, ...quietly }, config) : [], asked]);
      askers.follow(members);
      if (isDue) readMs = beganMs;
      rounds += 1;
      result.data = { rounds, heard, ...comparisonData(comparison.rows) };
      result.cover("duration", "incomplete", { detail: `${rounds} rounds so far` });
      await pause(Math.min(beganMs + intervalMs, endsMs) - performance.now());
    } while (performance.now() < endsMs && !signal.aborted);
  } finally {
    askers.close();
  }
  progress.done();
  result.cover("duration", "complete", { detail: `${rounds} rounds in ${formatDuration(forMs)}` });
  result.cover("nodes", heard.node > 0 ? "complete" : "incomplete", {
    detail: `${heard.node} answers of ${askers.size} nodes`,
  });
  result.cover("rolecall", heard.rolecall > 0 ? "complete" : "incomplete", {
    detail: `${heard.rolecall} answers, ${heard.silent} askings without`,
  });
  print(renderComparison(comparisonData(comparison.rows), style));
  diagnose(context, comparison, heard.silent);
}

/** What is found while members are read again was found at the start, and is not told once a minute. */
const quietly = { progress: { say: () => {}, done: () => {} }, result: { diagnose: () => {} } };

/** The clusters that are compared, with their members of now, by one probing of our own: rolecall's list is what is being examined. */
async function membersNow(
  session: Pick<CommandContext, "args"> & ProbeReporter,
  config: Config,
): Promise<readonly StatusCluster[]> {
  const wanted = session.args.text("cluster");
  const probed = await probeOnce(config, session);
  return probed.overview().clusters.filter(({ cluster }) => wanted === null || cluster === wanted);
}

function diagnose({ result }: CommandContext, comparison: Comparison, silent: number): void {
  for (const { node, check, lasting } of comparison.rows) {
    for (const [words, { isOurYes, count }] of lasting) {
      result.diagnose(isOurYes ? "RC040" : "RC043", {
        message: `${node} ${check}: ${words}, ${count} times beyond the time a change takes`,
      });
    }
  }
  if (silent > 0)
    result.diagnose("RC005", { message: `rolecall left ${silent} askings without an answer`, severity: "warning" });
}

interface Asking {
  readonly checks: readonly string[];
  readonly server: Server;
  readonly comparison: Comparison;
  readonly heard: { node: number; rolecall: number; silent: number };
}

/** One check after the other: nodes have few workers. Both sides are asked at the same moment. */
async function askBoth({ name, base, client }: Sampler, { checks, server, comparison, heard }: Asking): Promise<void> {
  for (const check of checks) {
    const atMs = performance.now();
    const [node, rolecall] = await Promise.all([askNode(client, check), askRolecall(server, `${base}${check}`)]);
    if (node.word !== "silent") heard.node += 1;
    if (rolecall === null) heard.silent += 1;
    else {
      heard.rolecall += 1;
      comparison.add({ node: name, check, atMs }, node, rolecall);
    }
  }
}

async function askNode(client: NodeClient, check: string): Promise<CheckResult> {
  const reply = await client.get(check);
  return "failure" in reply
    ? { fit: false, word: "silent" }
    : { fit: reply.status === 200, word: String(reply.status) };
}

async function askRolecall(server: Server, path: string): Promise<CheckResult | null> {
  try {
    const { status, headers } = await server.get(path);
    const reason = headers["x-rolecall-reason"];
    return { fit: status === 200, word: typeof reason === "string" ? `${status} ${reason}` : String(status) };
  } catch (error) {
    if (error instanceof CommandError) return null;
    throw error;
  }
}

/** What is asked: the checks named, else those of the haproxy.cfg, else the usual ones. What rolecall refuses is a finding. */
function checksToAsk({ args, result }: CommandContext, { ignoreParams }: Config): readonly string[] {
  const file = args.text("from-haproxy");
  if (file === null) result.cover("haproxy_checks", "not_applicable", { detail: "no --from-haproxy" });
  const found = file === null ? [] : readHaproxyChecks(readText(file));
  for (const check of found) {
    const refused = refusalOf(check, ignoreParams);
    if (refused !== null && file !== null) {
      result.diagnose(refused.kind === "path" ? "RC042" : "RC041", {
        message: `${refused.check} in ${refused.section}: ${refused.message}`,
        location: { file, line: refused.line, kind: "source" },
      });
    }
  }
  if (file !== null) result.cover("haproxy_checks", "complete", { detail: `${found.length} checks in ${file}` });
  const named = args.list("check").map((check) => (check.startsWith("/") ? check : `/${check}`));
  const inFile = found.map(({ check }: HaproxyCheck) =>
    check.replace(/^\/clusters\/[^/]+\/nodes\/[^/]+|^\/nodes\/[^/]+/, ""),
  );
  const chosen = [...new Set(named.length > 0 ? named : inFile.length > 0 ? inFile : usualChecks)].map((check) =>
    check.replaceAll(/[^!-~]/g, encodeURIComponent),
  );
  return chosen.slice(0, checksMax);
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new CommandError(
      "RC006",
      `Cannot read --from-haproxy: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, ms));
  });
}
