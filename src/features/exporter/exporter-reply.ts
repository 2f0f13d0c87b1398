import { exporterRoles, type ExporterRole } from "../../core/cluster/exporter/exporter-report.ts";
import type { RoleRequest } from "../../core/cluster/exporter/role-paths.ts";
import type { Reply } from "../../core/http/message/reply.ts";

const phrases: ReadonlyMap<number, string> = new Map([
  [200, "OK"],
  [404, "Not Found"],
  [405, "Method Not Allowed"],
  [500, "Internal Server Error"],
  [503, "Service Unavailable"],
]);

/** Returns a plain reply of the exporter API. Every method gets what GET gets; OPTIONS gets the body too. */
export function plainReply(
  status: number,
  body: string,
  rest: { readonly type?: string; readonly allow?: string } = {},
): Reply {
  return {
    status,
    phrase: phrases.get(status) ?? "",
    headers: [
      "Cache-Control",
      "no-store",
      "Content-Type",
      rest.type ?? "text/plain; charset=utf-8",
      ...(rest.allow === undefined ? [] : ["Allow", rest.allow]),
    ],
    body: Buffer.from(body),
    hasOptionsBody: true,
  };
}

/** Returns the status of a role request in a role state (docs/exporters.md, "As an API"). */
export function roleStatus(request: RoleRequest, state: ExporterRole): number {
  if (state !== "primary" && state !== "replica") return 503;
  return request === "up" || request === state ? 200 : 404;
}

/** All fifteen replies to role requests. */
const roleReplies: ReadonlyMap<string, Reply> = new Map(
  (["up", "primary", "replica"] as const).flatMap((request) =>
    exporterRoles.map((state): [string, Reply] => [
      `${request} ${state}`,
      plainReply(roleStatus(request, state), state),
    ]),
  ),
);

/** Returns the reply to a role request. The body is the role state without a newline, whatever was requested. */
export function roleReply(request: RoleRequest, state: ExporterRole): Reply {
  return roleReplies.get(`${request} ${state}`) ?? plainReply(503, state);
}

/** Returns the landing page: one line of HTML with a link to the metrics. */
export function landingReply(telemetryPath: string): Reply {
  const link = telemetryPath.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
  const body = `<html><head><title>rolecall</title></head><body><h1>rolecall</h1><p><a href='${link}'>Metrics</a></p></body></html>`;
  return plainReply(200, body, { type: "text/html; charset=UTF-8" });
}
