import { isLoopback } from "../../config/values/loopback.ts";
import type { ListenerConfig } from "../../config/model/config.ts";

/**
 * Why a listener may not be open on the address that its socket has. The configuration is checked for this when it is
 * loaded; but a socket from systemd may have another address than the configuration says, and localhost may resolve to
 * any.
 * @param bound the address of the socket; `null` for a Unix socket, which only this machine reaches
 * @returns a sentence; `null` if the listener may be open
 */
export function exposureProblem({ dialect, access }: ListenerConfig, bound: string | null): string | null {
  const { management, readOnly, auth, allow, tls } = access;
  const acceptsChanges = dialect === "admin" ? !readOnly : management;
  const isRestricted = auth !== null || allow !== null || tls?.client === "required";
  if (!acceptsChanges || isRestricted || bound === null || isLoopback(bound)) return null;
  return (
    `its socket has the address ${bound}, but its clients can make changes: ` +
    "use a loopback address, or restrict clients by auth, allow or tls.client: required"
  );
}
