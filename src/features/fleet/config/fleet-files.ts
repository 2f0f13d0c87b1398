import type { FindConfiguredFiles } from "../../../core/config/configured-files.ts";

/** The TLS files, the password and the token of the fleet. */
export const fleetFiles: FindConfiguredFiles = ({ fleet }) =>
  fleet === null
    ? []
    : [
        { key: "fleet.tls", tls: fleet.tls },
        { key: "fleet.token_file", secret: fleet.tokenFile },
        { key: "fleet.etcd.tls", tls: fleet.etcd.tls },
        { key: "fleet.etcd.auth.password_file", secret: fleet.etcd.auth?.passwordFile ?? null },
      ];
