import type { ListenerAccess } from "../../config/model/listener-access-config.ts";
import type { IncomingCall } from "../message/incoming-call.ts";
import { errorReply, type Reply } from "../message/reply.ts";

/**
 * Why a call for a switchover is refused: it needs `management: on`, an authenticated caller, and a content type that no
 * form of another site can send. `null` if it is not.
 */
export function refuseManagement(
  { message, caller }: IncomingCall,
  access: Pick<ListenerAccess, "management" | "readOnly">,
): Reply | null {
  if (!access.management || access.readOnly) {
    const text =
      "Cannot forward a switchover: management calls are off on this listener. Set management: on, with auth";
    return errorReply(403, "management_off", { message: text });
  }
  if (caller.principal === null) {
    const text = "Cannot forward a switchover: its caller must be authenticated, got no credential";
    return errorReply(403, "unauthenticated", { message: text });
  }
  const type = message.headers["content-type"] ?? "";
  if (/^application\/json\s*(?:;|$)/i.test(type)) return null;
  const text = `Cannot read this body: its Content-Type must be application/json, got ${JSON.stringify(type)}`;
  return errorReply(415, "unsupported_media_type", { message: text });
}
