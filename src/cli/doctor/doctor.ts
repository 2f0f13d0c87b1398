import type { Config } from "../../config/model/config.ts";
import { configFrom, sourcesOf } from "../client/configuration.ts";
import { probeOnce, type ProbedCluster } from "../client/probe-once.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { table } from "../output/table.ts";
import { checkClocks } from "./clocks.ts";
import { checkGuards, checkMaxAge } from "./guards.ts";
import { checkHaproxy } from "./haproxy.ts";
import { checkListenerFindings } from "./listeners.ts";
import { checkIdentity, checkNodes, examinePassword, checkVersions } from "./nodes.ts";
import { checkTls } from "./tls.ts";

/** What each examination looks at. */
export interface DoctorContext {
  readonly context: CommandContext;
  readonly config: Config;
  readonly probed: ProbedCluster;
}

/** `rolecall doctor`: examines a whole set-up. Every examination covers its own check and finds by rules of docs/rules.md. */
export async function doctor(context: CommandContext): Promise<void> {
  const { args, io, result, progress } = context;
  const config = configFrom(sourcesOf(args, io.env), result);
  result.cover("configuration", "complete", { detail: args.text("config") ?? "command line" });
  if (config === null) return report(context);
  const probed = await probeOnce(config, context);
  const patient = { context, config, probed };
  checkNodes(patient);
  checkVersions(patient);
  checkIdentity(patient);
  examinePassword(patient);
  checkMaxAge(patient);
  checkGuards(patient);
  progress.say("asking clocks and certificates, trying listeners");
  await Promise.all([checkClocks(patient), checkTls(patient), checkListenerFindings(patient)]);
  progress.say("running haproxy -c");
  await checkHaproxy(patient);
  progress.done();
  result.data = { clusters: probed.overview().clusters };
  report(context);
}

function report({ result, print, style }: CommandContext): void {
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
      ["EXAMINED", "STATUS", "DETAIL"],
      coverage.map(({ id, status, detail }) => [
        { text: id },
        { text: status, paint: paint[status] },
        { text: detail },
      ]),
    ),
  );
}
