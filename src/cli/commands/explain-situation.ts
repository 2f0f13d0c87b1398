import { situationLines } from "../../core/health/documents/situation.ts";
import { fetchStatus } from "../../app/client/fetch-status.ts";
import { sourceWords } from "../../core/command/client/next-command.ts";
import type { CommandContext } from "../../core/command/framework/command-context.ts";
import { safe } from "../../core/command/output/style.ts";
import { diagnoseClusters } from "../status/diagnosis.ts";

/** `rolecall explain` without a check: what somebody on call has to know of each cluster, or that of `--cluster`. */
export async function explainSituation(context: CommandContext): Promise<void> {
  const { args, result, print, style } = context;
  const { by, clusters } = await fetchStatus(context);
  result.cover("rules", "complete", { detail: by });
  result.data = {
    clusters: clusters.map(({ cluster, situation, canaries }) => ({
      cluster,
      ...situation,
      ...(canaries === undefined ? {} : { canaries }),
    })),
  };
  for (const { cluster, situation, canaries = [] } of clusters) {
    const tried = canaries.map(({ text }) => `canary:  ${typeof text === "string" ? text : "?"}`);
    print([style.bold(safe(cluster)), ...[...situationLines(situation), ...tried].map(safe), ""].join("\n"));
  }
  diagnoseClusters(result, clusters, sourceWords(args));
}
