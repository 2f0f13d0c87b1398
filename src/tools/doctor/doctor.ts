import { loadedFrom, namedByScope, sourcesOf } from "../../app/client/configuration.ts";
import { probedStatus } from "../../app/client/attachment.ts";
import { probeLocally } from "../../app/client/local-probe.ts";
import { withRememberedMembers } from "../../core/command/client/remembered-members.ts";
import { shellWord } from "../../core/command/client/next-command.ts";
import type { CommandContext } from "../../core/command/framework/command-context.ts";
import { table } from "../../core/command/output/table.ts";
import { diagnoseRemovedKeys } from "../../core/command/result/config-problem.ts";
import { checkAsked } from "./asked.ts";
import { checkClocks } from "./clocks.ts";
import { featureChecks, featureServerChecks, serverCheckOrder } from "../../app/registry/doctor.ts";
import { featureEvidenceChecks, featureUnlistedChecks } from "../../app/registry/unlisted-checks.ts";
import type { DoctorContext, ServerCheck } from "../../core/command/doctor/doctor-context.ts";
import { checkGuards, checkMaxAge } from "./guards.ts";
import {
  answeringNodes,
  checkAddresses,
  checkIdentity,
  checkNodes,
  checkPasswordProtection,
  checkVersions,
} from "./nodes.ts";
import { checkState } from "./state.ts";
import { configFileOf } from "./validate.ts";
import { checkTls } from "./tls.ts";
import { checkSenderLists } from "./sender-lists.ts";
import { checkZones } from "./zones.ts";
import { createServer } from "node:net";
import type { ListenerConfig } from "../../core/config/model/config.ts";
import { isRunningRolecall } from "./running-rolecall.ts";

/** The checks with the members that are known, in their order. */
const serverChecks: readonly ServerCheck[] = [
  { id: "asked", isListed: false, load: () => Promise.resolve(checkAsked) },
  { id: "state", isListed: true, load: () => Promise.resolve(checkState) },
  ...featureServerChecks,
].toSorted((one, other) => serverCheckOrder.indexOf(one.id) - serverCheckOrder.indexOf(other.id));

/**
 * `rolecall doctor`: checks a whole setup. Each check covers its own entry; docs/rules.md lists the rules of findings.
 */
export async function doctor(context: CommandContext): Promise<void> {
  const command = withConfigOption(context);
  const { args, io, result, progress } = command;
  const sources = sourcesOf(args, io.env);
  const loaded = loadedFrom(sources, result);
  result.cover("configuration", "complete", { detail: args.text("config") ?? "command line" });
  if (loaded === null) return printCoverage(command);
  diagnoseRemovedKeys(result, loaded.warnings);
  const { config } = await namedByScope({ config: loaded.config, sources });
  // checkTls reports problems with TLS files.
  const probed = await probeLocally(config, { progress, result: { diagnose: () => {} } });
  const checked: DoctorContext = { command, config, probed };
  checkNodes(checked);
  checkVersions(checked);
  checkIdentity(checked);
  checkAddresses(checked);
  checkPasswordProtection(checked);
  checkMaxAge(checked);
  checkGuards(checked);
  checkZones(checked);
  checkSenderLists(checked);
  for (const { load } of featureEvidenceChecks) await (await load())(checked);
  progress.report("checking clocks, certificates, listeners, balancers, poolers and the DCS");
  const brought = await Promise.all([...featureChecks, ...featureUnlistedChecks].map(({ load }) => load()));
  const checks = [checkClocks, checkTls, checkListenerPorts, ...brought];
  await Promise.all(checks.map((check) => check(checked)));
  progress.report("running haproxy -c");
  const known = await withRememberedMembers(command, config, probed.overview().clusters);
  for (const { load } of serverChecks) await (await load())(checked, known);
  progress.done();
  result.data = { clusters: probedStatus(probed).clusters };
  printCoverage(command);
  const isSilent = probed.snapshot.clusters.every((cluster) => answeringNodes(cluster).length === 0);
  if (isSilent && known.by === null) command.print(nothingRuns(args.text("config")));
}

/** FILE is another way to write `--config FILE`. */
function withConfigOption(context: CommandContext): CommandContext {
  const { args } = context;
  const file = configFileOf(args);
  return file === null || args.text("config") !== null ? context : { ...context, args: args.with("config", file) };
}

function nothingRuns(file: string | null): string {
  const alone = file === null ? "" : ` To check them alone: rolecall doctor ${shellWord(file)} --offline`;
  return `No node answered, and no rolecall of this configuration runs here: only files were checked.${alone}\n`;
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
