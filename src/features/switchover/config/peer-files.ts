import type { FindConfiguredFiles } from "../../../core/config/configured-files.ts";

/** The files for calls to peers. */
export const peerFiles: FindConfiguredFiles = ({ peers }) =>
  peers.flatMap(({ tls, tokenFile: secret }, index) => [
    { key: `peers[${index}].tls`, tls },
    { key: `peers[${index}].token_file`, secret },
  ]);
