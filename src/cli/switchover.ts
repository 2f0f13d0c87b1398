import { parseClusterDocument } from "../cluster/cluster-document.ts";
import { Stop } from "./command.ts";
import { confirm } from "./confirm.ts";
import { clusterPath, instantPattern, manage, patience } from "./management-call.ts";
import { Server } from "./server.ts";
import type { Session } from "./session.ts";

/** `rolecall switchover`: hands the leadership over, now or at a time, or removes what was scheduled. */
export async function switchover(session: Session): Promise<void> {
  const { args } = session;
  const server = new Server(session, "node", patience);
  const path = clusterPath(session, "switchover");
  if (args.has("cancel")) {
    await confirm(session, "The scheduled switchover is removed");
    return manage(session, server, { method: "DELETE", path });
  }
  const at = timeOf(session);
  const leader = args.text("leader") ?? (await leaderOf(session, server));
  const candidate = args.text("candidate");
  await confirm(
    session,
    `The leadership goes from ${leader} to ${candidate ?? "whom the cluster elects"}${at === null ? " now" : ` at ${at}`}`,
  );
  const body = { leader, ...(candidate === null ? {} : { candidate }), ...(at === null ? {} : { scheduled_at: at }) };
  return manage(session, server, { method: "POST", path, body });
}

/** `rolecall failover --candidate NODE`. */
export async function failover(session: Session): Promise<void> {
  const candidate = session.args.text("candidate");
  if (candidate === null) throw new Stop("RC001", "--candidate must name who is to lead");
  const server = new Server(session, "node", patience);
  await confirm(session, `${candidate} is made the leader, whatever the present one says; writes that it has not received are lost`);
  return manage(session, server, { method: "POST", path: clusterPath(session, "failover"), body: { candidate } });
}

/** `--at`, which needs a time zone; `null` where it was not given. @throws Stop */
export function timeOf({ args }: Session): string | null {
  const at = args.text("at");
  if (at !== null && (!instantPattern.test(at) || Number.isNaN(Date.parse(at)))) {
    throw new Stop("RC001", `--at must be a time with a time zone, such as 2026-01-31T03:00:00Z: it is ${JSON.stringify(at)}`);
  }
  return at;
}

/** The call must name the present leader, so that a switchover is never of another one than was meant. */
async function leaderOf(session: Session, server: Server): Promise<string> {
  const document = parseClusterDocument(await server.getObject(clusterPath(session, "cluster")));
  if (document === undefined || document.leader === null)
    throw new Stop("RC007", "the cluster document names no leader: say --leader, or use rolecall failover");
  return document.leader;
}
