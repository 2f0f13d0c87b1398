import { configFrom, namedByScope, sourcesOf } from "../client/configuration.ts";
import { probedStatus } from "../client/attachment.ts";
import { probeLocally } from "../client/local-probe.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { table } from "../output/table.ts";
import { checkClocks } from "./clocks.ts";
import { diagnoseBalancers } from "./balancers.ts";
import { checkDcs } from "./dcs.ts";
import type { DoctorContext } from "./doctor-context.ts";
import { checkGuards, checkMaxAge } from "./guards.ts";
import { checkHaproxy } from "./haproxy.ts";
import { checkListenerPorts } from "./listeners.ts";
import { checkAddresses, checkIdentity, checkNodes, checkPasswordProtection, checkVersions } from "./nodes.ts";
import { checkTls } from "./tls.ts";

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
  progress.report("checking clocks, certificates, listeners, balancers and the DCS");
  const checks = [checkClocks, checkTls, checkListenerPorts, diagnoseBalancers, checkDcs];
  await Promise.all(checks.map((check) => check(context)));
  progress.report("running haproxy -c");
  await checkHaproxy(context);
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
