import { managementTimeout } from "../client/management-call.ts";
import { RolecallClient } from "../client/rolecall-client.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { CommandError } from "../framework/command-error.ts";
import { confirm } from "../framework/confirm.ts";
import { removalSql } from "../rehearse/database/rehearsal-schema.ts";
import { targetName } from "../rehearse/database/connection-target.ts";
import { readRehearsalOptions } from "../rehearse/options.ts";
import { planRehearsal, type RehearsalPlan, type RehearsalServers } from "../rehearse/plan.ts";
import { changeText, planText } from "../rehearse/plan-text.ts";
import { Rehearsal, type Rehearsed } from "../rehearse/rehearsal.ts";
import { measuredData, planData } from "../rehearse/rehearsal-data.ts";
import { outageLine, renderRehearsal } from "../rehearse/report.ts";
import { summarizeRehearsal, type RehearsalSummary } from "../rehearse/summary.ts";

/** How long rolecall may take to answer a check: samples are many, and a late one is worth nothing. */
const sampleTimeout = "1s";

/** `rolecall rehearse`: a switchover while writing through the pool, and the outage by phase. */
export async function rehearse(context: CommandContext): Promise<void> {
  const { args, result, print, signal } = context;
  const options = readRehearsalOptions(context);
  const servers: RehearsalServers = {
    health: new RolecallClient(context, "node", sampleTimeout),
    management: new RolecallClient(context, "node", managementTimeout),
    admin: new RolecallClient(context, "admin"),
  };
  let plan: RehearsalPlan;
  try {
    plan = await planRehearsal(context, options, servers);
  } catch (error) {
    throwIfEnded(signal);
    return refuse(context, error);
  }
  result.cover("checks", "complete", { detail: "the rehearsal may begin" });
  result.data = planData(plan);
  print(planText(plan));
  if (args.has("dry-run")) {
    result.cover("rehearsal", "not_applicable", { detail: "dry run" });
    print("dry run: nothing was changed.\n");
    return;
  }
  await confirm(context, changeText(plan));
  throwIfEnded(signal);
  const rehearsal = new Rehearsal(context, plan, servers);
  let rehearsed: Rehearsed;
  try {
    rehearsed = await rehearsal.run();
  } catch (error) {
    return refuse(context, error);
  } finally {
    await removeFrom(context, rehearsal, plan);
  }
  report(context, plan, rehearsed);
}

/**
 * Reports why the rehearsal does not begin. A dry run was complete nevertheless: it ends with exit code 1.
 * @throws CommandError the error, unless it refuses a dry run
 */
function refuse({ args, result }: CommandContext, error: unknown): void {
  if (!(error instanceof CommandError) || error.rule !== "RC140") throw error;
  result.cover("checks", "complete", { detail: error.message });
  result.cover("rehearsal", "not_applicable", { detail: "refused" });
  if (!args.has("dry-run")) throw error;
  result.diagnose("RC140", { message: error.message, ...(error.action === null ? {} : { action: error.action }) });
}

/** Removes the schema, also after a signal or a failure. If that fails, the finding has the statement. */
async function removeFrom(
  { io, result, format, signal }: CommandContext,
  rehearsal: Rehearsal,
  plan: RehearsalPlan,
): Promise<void> {
  const { schema, options } = plan;
  if (signal.aborted && format === "text")
    await io.stderr.write(`Ended by ${String(signal.reason)}: removing the schema ${schema}, 30 s at most\n`);
  const problem = await rehearsal.remove();
  result.data = { ...planData(plan), schema_removed: problem === null };
  if (problem === null) return;
  result.diagnose("RC144", {
    message: `Cannot remove the schema ${schema} from ${targetName(options.pool)}: ${problem}. Run: ${removalSql(schema)};`,
    incomplete: true,
  });
}

function report(context: CommandContext, plan: RehearsalPlan, rehearsed: Rehearsed): void {
  const { result, print, style } = context;
  const summary = summarizeRehearsal(plan, rehearsed);
  const schemaRemoved = !result.diagnostics.some(({ rule_id: id }) => id === "RC144");
  result.data = { ...planData(plan), schema_removed: schemaRemoved, ...measuredData(rehearsed, summary) };
  if (rehearsed.request.evidence !== null) result.addEvidence(rehearsed.request.evidence);
  result.cover("rehearsal", "complete", { detail: outageLine(plan, rehearsed, summary) });
  print(renderRehearsal(plan, rehearsed, { summary, style }));
  diagnose(context, plan, { rehearsed, summary });
}

function diagnose(
  { result }: CommandContext,
  { options }: RehearsalPlan,
  { rehearsed, summary }: { readonly rehearsed: Rehearsed; readonly summary: RehearsalSummary },
): void {
  const { missing, request } = rehearsed;
  const { outage, tally, advice } = summary;
  if (request.problem !== null) result.diagnose("RC060", { message: request.problem });
  if (missing !== null)
    result.diagnose("RC142", { message: `The cluster did not recover in ${options.deadlineMs / 1_000} s: ${missing}` });
  if (options.maxOutageMs !== null && outage !== null && outage.outageMs > options.maxOutageMs)
    result.diagnose("RC141", {
      message: `The outage took ${Math.round(outage.outageMs)} ms, and --max-outage is ${options.maxOutageMs} ms`,
    });
  if (tally.lost !== null && tally.lost.length > 0)
    result.diagnose("RC143", { message: `${tally.lost.length} acknowledged writes are missing afterwards` });
  if (tally.lost === null)
    result.diagnose("RC003", { message: "The writes could not be read back: losses are not known", incomplete: true });
  for (const { message, action } of advice) result.diagnose("RC146", { message, action });
}

function throwIfEnded(signal: AbortSignal): void {
  if (signal.aborted) throw new CommandError("RC004", `ended by ${String(signal.reason)}`);
}
