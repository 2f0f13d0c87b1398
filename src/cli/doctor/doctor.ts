import { configFrom, namedByScope, sourcesOf } from "../client/configuration.ts";
import { probedStatus } from "../client/attachment.ts";
import { probeLocally } from "../client/local-probe.ts";
import { withRememberedMembers, type KnownClusters } from "../../command/client/remembered-members.ts";
import type { CommandContext } from "../../command/framework/command-context.ts";
import { table } from "../../command/output/table.ts";
import { checkAsked } from "./asked.ts";
import { checkClocks } from "./clocks.ts";
import { featureChecks, featureServerChecks } from "../../app/registry/doctor.ts";
import { featureEvidenceChecks, featureUnlistedChecks } from "../../app/registry/unlisted-checks.ts";
import type { DoctorContext } from "../../command/doctor/doctor-context.ts";
import { checkGuards, checkMaxAge } from "./guards.ts";
import { checkAddresses, checkIdentity, checkNodes, checkPasswordProtection, checkVersions } from "./nodes.ts";
import { checkHaproxyServers } from "./haproxy-servers.ts";
import { checkTls } from "./tls.ts";
import { checkSenderLists } from "./sender-lists.ts";
import { checkZones } from "./zones.ts";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { renderHaproxy } from "../render/haproxy.ts";
import { defaultRenderOptions } from "../render/input/options.ts";
import { targetsOf } from "../render/input/targets.ts";
import { execute } from "../../command/result/evidence.ts";
import { createServer } from "node:net";
import type { ListenerConfig } from "../../config/model/config.ts";
import { checkEnvoys } from "./envoys.ts";
import { isRunningRolecall } from "./running-rolecall.ts";

/**
 * `rolecall doctor`: checks a whole setup. Each check covers its own entry; docs/rules.md lists the rules of findings.
 */
export async function doctor(command: CommandContext): Promise<void> {
  const { args, io, result, progress } = command;
  const sources = sourcesOf(args, io.env);
  const loaded = configFrom(sources, result);
  result.cover("configuration", "complete", { detail: args.text("config") ?? "command line" });
  if (loaded === null) return printCoverage(command);
  const { config } = await namedByScope({ config: loaded, sources });
  // checkTls reports problems with TLS files.
  const probed = await probeLocally(config, { progress, result: { diagnose: () => {} } });
  const context: DoctorContext = { command, config, probed };
  checkNodes(context);
  checkVersions(context);
  checkIdentity(context);
  checkAddresses(context);
  checkPasswordProtection(context);
  checkMaxAge(context);
  checkGuards(context);
  checkZones(context);
  checkSenderLists(context);
  for (const { load } of featureEvidenceChecks) await (await load())(context);
  progress.report("checking clocks, certificates, listeners, balancers, poolers and the DCS");
  const brought = await Promise.all([...featureChecks, ...featureUnlistedChecks].map(({ load }) => load()));
  const checks = [checkClocks, checkTls, checkListenerPorts, ...brought];
  await Promise.all(checks.map((check) => check(context)));
  progress.report("running haproxy -c");
  const known = await withRememberedMembers(command, config, probed.overview().clusters);
  checkHaproxyServers(command, known.clusters);
  checkAsked(command, known);
  await checkEnvoys(context, known);
  for (const { load } of featureServerChecks) await (await load())(context, known);
  await checkHaproxy(context, known);
  progress.done();
  result.data = { clusters: probedStatus(probed).clusters };
  printCoverage(command);
}

function printCoverage({ result, print, style }: CommandContext): void {
  const { coverage } = result.build();
  const paint = {
    complete: style.green,
    not_checked: style.red,
    incomplete: style.red,
    unsupported: style.yellow,
    not_applicable: style.dim,
  };
  print(
    table(
      ["CHECK", "STATUS", "DETAIL"],
      coverage.map(({ id, status, detail }) => [
        { text: id },
        { text: status, paint: paint[status] },
        { text: detail },
      ]),
    ),
  );
}

const timeoutMs = 20_000;

/** Renders the HAProxy configuration and validates it with `haproxy -c -f FILE`, whose output becomes evidence. */
async function checkHaproxy({ command, config }: DoctorContext, known: KnownClusters): Promise<void> {
  const { args, result, signal } = command;
  const targets = targetsOf(command, config, known);
  if (targets.clusters.every(({ nodes }) => nodes.length === 0)) {
    result.cover("haproxy", "not_applicable", { detail: "no database address is known" });
    return;
  }
  const program = args.text("haproxy") ?? "haproxy";
  const folder = await mkdtemp(join(tmpdir(), "rolecall-doctor-"));
  try {
    const file = join(folder, "haproxy.cfg");
    await writeFile(file, renderHaproxy(targets, defaultRenderOptions));
    const evidence = await execute({
      command: program,
      args: ["-c", "-f", file],
      directory: folder,
      timeoutMs,
      signal,
    });
    result.addEvidence(evidence);
    if (evidence.exit_code === -1) {
      result.cover("haproxy", "unsupported", { detail: evidence.stderr.slice(0, 200) });
      return;
    }
    result.cover("haproxy", "complete", { detail: `exit code ${evidence.exit_code}` });
    if (evidence.exit_code !== 0)
      result.diagnose("RC108", {
        message: `haproxy -c failed: ${evidence.stderr.trim().slice(0, 1_000)}`,
        location: { file, kind: "output" },
      });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Tries to bind every listener address. A port that a running rolecall uses is reported as information only (RC107).
 */
async function checkListenerPorts({ command: { result }, config }: DoctorContext): Promise<void> {
  const fixed = config.listen.filter(({ port }) => port !== 0);
  const tried = await Promise.all(fixed.map(async (listener) => ({ listener, problem: await tryListening(listener) })));
  for (const { listener, problem } of tried) {
    if (problem === null) continue;
    const where = `${listener.address}:${listener.port}`;
    const isInUseByRolecall = problem === "EADDRINUSE" && (await isRunningRolecall(listener));
    if (isInUseByRolecall)
      result.diagnose("RC107", { message: `${where} is in use by a running rolecall`, severity: "info" });
    else
      result.diagnose("RC107", {
        message: `Cannot listen on ${where}: ${problem}`,
        action: "Stop the process that uses the address, or choose another port.",
      });
  }
  const free = tried.filter(({ problem }) => problem === null).length;
  result.cover("listeners", "complete", { detail: `${free} of ${fixed.length} addresses are free` });
}

/** @returns the system's error code, or `null` if listening works */
function tryListening({ address, port }: ListenerConfig): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host: address, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}
