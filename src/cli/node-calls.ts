import { confirm } from "./confirm.ts";
import { manage, patience } from "./management-call.ts";
import { splitName } from "./node-name.ts";
import { Server } from "./server.ts";
import type { Session } from "./session.ts";
import { timeOf } from "./switchover.ts";

/** `rolecall restart NODE`: now, at a time, under conditions; or removes what was scheduled. */
export async function restart(session: Session): Promise<void> {
  const { args } = session;
  const { path, name } = nodePath(session, "restart");
  const server = new Server(session, "node", patience);
  if (args.has("cancel")) {
    await confirm(session, `The scheduled restart of ${name} is removed`);
    return manage(session, server, { method: "DELETE", path });
  }
  const at = timeOf(session);
  const role = args.text("role");
  const version = args.text("version");
  const body = {
    ...(args.has("pending") ? { restart_pending: true } : {}),
    ...(role === null ? {} : { role }),
    ...(version === null ? {} : { postgres_version: version }),
    ...(args.text("wait") === null ? {} : { timeout: Math.ceil(args.span("wait", "1s") / 1000) }),
    ...(at === null ? {} : { schedule: at }),
  };
  await confirm(session, `The database of ${name} is restarted${at === null ? " now" : ` at ${at}`}`);
  return manage(session, server, { method: "POST", path, body });
}

/** `rolecall reload NODE`. */
export async function reload(session: Session): Promise<void> {
  const { path, name } = nodePath(session, "reload");
  await confirm(session, `${name} reads its configuration file again`);
  return manage(session, new Server(session, "node", patience), { method: "POST", path, body: {} });
}

/** `rolecall reinitialize NODE`. */
export async function reinitialize(session: Session): Promise<void> {
  const { args } = session;
  const { path, name } = nodePath(session, "reinitialize");
  await confirm(session, `All data of ${name} is removed and made anew`);
  const body = { ...(args.has("force") ? { force: true } : {}), ...(args.has("from-leader") ? { "from-leader": true } : {}) };
  return manage(session, new Server(session, "node", patience), { method: "POST", path, body });
}

function nodePath({ args }: Session, call: string): { readonly path: string; readonly name: string } {
  const [name = ""] = args.positionals;
  const { cluster: inName, node } = splitName(name);
  const cluster = args.text("cluster") ?? inName;
  const base = cluster === null ? "" : `/clusters/${encodeURIComponent(cluster)}`;
  return { path: `${base}/nodes/${encodeURIComponent(node)}/${call}`, name };
}
