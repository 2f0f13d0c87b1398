import type { Config } from "../../config/config.ts";
import { configFrom, sourcesOf } from "../configuration.ts";
import { probeOnce, type Probed } from "../probe-once.ts";
import type { Session } from "../session.ts";
import { table } from "../text/table.ts";
import { examineClocks } from "./clocks.ts";
import { examineGuards, examineMaxAge } from "./guards.ts";
import { examineHaproxy } from "./haproxy.ts";
import { examineListeners } from "./listeners.ts";
import { examineIdentity, examineNodes, examinePassword, examineVersions } from "./nodes.ts";
import { examineTls } from "./tls.ts";

/** What each examination looks at. */
export interface Patient {
  readonly session: Session;
  readonly config: Config;
  readonly probed: Probed;
}

/** `rolecall doctor`: examines a whole set-up. Every examination covers its own check and finds by rules of docs/rules.md. */
export async function doctor(session: Session): Promise<void> {
  const { args, io, result, progress } = session;
  const config = configFrom(sourcesOf(args, io.env), result);
  result.cover("configuration", "complete", { detail: args.text("config") ?? "command line" });
  if (config === null) return report(session);
  const probed = await probeOnce(config, session);
  const patient = { session, config, probed };
  examineNodes(patient);
  examineVersions(patient);
  examineIdentity(patient);
  examinePassword(patient);
  examineMaxAge(patient);
  examineGuards(patient);
  progress.say("asking clocks and certificates, trying listeners");
  await Promise.all([examineClocks(patient), examineTls(patient), examineListeners(patient)]);
  progress.say("running haproxy -c");
  await examineHaproxy(patient);
  progress.done();
  result.data = { clusters: probed.overview().clusters };
  report(session);
}

function report({ result, print, style }: Session): void {
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
      coverage.map(({ id, status, detail }) => [{ text: id }, { text: status, paint: paint[status] }, { text: detail }]),
    ),
  );
}
