import { clusterNamed } from "../../cluster/lookup.ts";
import { incidentPieces, incidentReachMs, type RecordedCluster } from "../../events/incident/incident-file.ts";
import { incidentSubject } from "../../events/incident/incident-subject.ts";
import { badRequest, type Reply } from "../message/reply.ts";
import { renderSliced, type RenderingContext } from "../pages/rendering.ts";
import type { DiagnosticsRequest, DiagnosticsSources } from "./diagnostics-sources.ts";

/**
 * Answers `/incident?around=2026-11-21T03:12:00Z` (default: now) with the evidence of the minutes around an instant, in
 * the file format of the incident tests (test/spec/incidents), so that an incident can become a test.
 */
export async function incidentReply(
  { target, query }: DiagnosticsRequest,
  sources: DiagnosticsSources,
  rendering: RenderingContext,
): Promise<Reply | null> {
  const around = query.get("around");
  const instantMs = around === null || around === "now" ? sources.wall() : Date.parse(around);
  if (Number.isNaN(instantMs))
    return badRequest({
      subject: "parameter around",
      value: around ?? "",
      allowed: "an instant such as 2026-11-21T03:12:00Z, or now",
    });
  const snapshot = sources.snapshot();
  const cluster = clusterNamed(snapshot, target.cluster);
  const policy = sources.policy(target.cluster);
  if (cluster === undefined || policy === undefined)
    return badRequest({ subject: "cluster", value: target.cluster, allowed: "a cluster of the configuration" });
  const time = { fromWallMs: instantMs - incidentReachMs, toWallMs: instantMs + incidentReachMs };
  const { recorded, accused, sinceWallMs, isComplete } = await sources.evidence(
    { cluster: target.cluster, ...time },
    rendering,
  );
  const recordedSources: RecordedCluster[] = [];
  for (let { source } = cluster; source !== null; { source } = source) {
    const sourcePolicy = sources.policy(source.name);
    if (sourcePolicy === undefined) break;
    const evidence = await sources.evidence({ cluster: source.name, ...time }, rendering);
    recordedSources.push({ ...evidence, subject: incidentSubject(source, sourcePolicy) });
  }
  const headers = [
    "Content-Type",
    "application/yaml",
    "Content-Disposition",
    `attachment; filename="incident.yaml"`,
    // How far back incident files reach: a client cannot see that from an empty one.
    ...(isComplete ? [] : ["X-Rolecall-Evidence-Incomplete", "true"]),
    ...(sinceWallMs === null ? [] : ["X-Rolecall-Evidence-Since", new Date(sinceWallMs).toISOString()]),
  ];
  const incident = {
    subject: incidentSubject(cluster, policy),
    limits: { atWallMs: sources.wall(), limits: await sources.limits(target.cluster) },
    instantMs,
    recorded,
    accused,
    isComplete,
    sources: recordedSources,
  };
  return renderSliced(incidentPieces(incident), rendering, headers);
}
