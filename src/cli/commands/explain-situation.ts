import { situationLines } from "../../core/health/documents/situation.ts";
import { fetchStatus } from "../../app/client/fetch-status.ts";
import { sourceWords } from "../../core/command/client/next-command.ts";
import type { CommandContext } from "../../core/command/framework/command-context.ts";
import { safe } from "../../core/command/output/style.ts";
import { entryText } from "../status/table/entry-text.ts";
import { diagnoseClusters } from "../status/diagnosis.ts";

/** `rolecall explain` without a check: what somebody on call has to know of each cluster, or that of `--cluster`. */
export async function explainSituation(context: CommandContext): Promise<void> {
  const { args, result, print, style } = context;
  const { by, clusters } = await fetchStatus(context);
  result.cover("rules", "complete", { detail: by });
  result.data = {
    clusters: clusters.map(({ cluster, situation, canaries, services }) => ({
      cluster,
      ...situation,
      ...(canaries === undefined ? {} : { canaries }),
      ...(services === undefined ? {} : { services }),
    })),
  };
  for (const { cluster, situation, canaries = [], services = [] } of clusters) {
    const seen = [
      ...canaries.map((one) => `canary:  ${entryText(one)}`),
      ...services.map((one) => `service: ${entryText(one)}`),
    ];
    print([style.bold(safe(cluster)), ...[...situationLines(situation), ...seen].map(safe), ""].join("\n"));
  }
  diagnoseClusters(result, clusters, sourceWords(args));
}
