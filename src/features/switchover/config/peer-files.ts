import type { NamedFiles } from "../../../command/doctor/file-findings.ts";
import type { Config } from "../../../config/model/config.ts";

/** The files for calls to peers. */
export function peerFiles({ peers }: Pick<Config, "peers">): readonly NamedFiles[] {
  return peers.flatMap(({ tls, tokenFile: secret }, index) => [
    { key: `peers[${index}].tls`, tls },
    { key: `peers[${index}].token_file`, secret },
  ]);
}
