import * as z from "zod";
import { tlsSchema } from "./tls-schema.ts";
import { baseAddress, plainText } from "./value-schemas.ts";

/** A user and a password: of management calls to the nodes, or of etcd. */
export const authSchema = z
  .strictObject(
    {
      user: plainText("a user name", 128).describe("User name"),
      password_file: plainText("the name of a file", 4096).describe("File with the password on its first line"),
    },
    { error: "a mapping with the keys user and password_file" },
  )
  .transform(({ user, password_file: passwordFile }) => ({ user, passwordFile }));

const allowed = "a list of 1 to 16 addresses";

/** The client addresses of an etcd. */
export const etcdMembersSchema = z
  .array(baseAddress("http://10.0.0.1:2379", []), { error: allowed })
  .min(1, { error: allowed })
  .max(16, { error: allowed })
  .describe("Client addresses of etcd members (etcd 3.4 or later), tried in turn");

/** The keys `tls` and `auth` of an etcd. @param permission what its user must be permitted */
export function etcdAccess(permission: string) {
  return {
    tls: tlsSchema("the members of etcd").nullable().prefault(null).describe("TLS of connections to etcd"),
    auth: authSchema
      .nullable()
      .default(null)
      .describe(`User of etcd. It needs permission ${permission}. Default: none`),
  };
}
