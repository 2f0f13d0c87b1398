import * as z from "zod";
import type { ConfigPath } from "../../config/model/issue.ts";
import { duration, flag, plainText } from "../../config/schema/value-schemas.ts";
import { parseServerAddress } from "./server-address.ts";

const file = (): z.ZodType<string, string> => plainText("the name of a file", 4096);

/** A context as written: a server, and how to connect to it. */
export interface ContextShape {
  readonly server: string;
  /** Whether a `server` without a scheme means https. */
  readonly tls?: boolean | undefined;
  readonly token_file?: string | undefined;
  /** A file with `user:password`. */
  readonly user_file?: string | undefined;
  readonly user?: string | undefined;
  readonly password_file?: string | undefined;
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Whether the certificate of the server is not verified. */
  readonly insecure?: boolean | undefined;
  /** In ms. */
  readonly timeout?: number | undefined;
}

/** The content of `contexts.yaml`. */
export interface ContextsShape {
  readonly current: string | null;
  readonly contexts: Readonly<Record<string, ContextShape>> | null;
}

const serverAllowed = "the address of a listener, such as https://rolecall.example:8008 or 10.0.0.1:8008";
const userAllowed = "the name of a user, without a colon";

const contextFields = {
  server: z
    .string({ error: serverAllowed })
    .refine((text) => parseServerAddress(text, false) !== null, { error: serverAllowed }),
  tls: flag().optional(),
  token_file: file().optional(),
  user_file: file().optional(),
  user: z
    .string({ error: userAllowed })
    .regex(/^[^:\p{Cc}]{1,128}$/u, { error: userAllowed })
    .optional(),
  password_file: file().optional(),
  ca: file().optional(),
  cert: file().optional(),
  key: file().optional(),
  insecure: flag().optional(),
  timeout: duration("1ms", "1h").optional(),
};
const contextSchema: z.ZodType<ContextShape> = z.strictObject(contextFields, {
  error: "a mapping with the key server",
});

const fileFields = {
  current: z.string({ error: "the name of a context" }).nullable().default(null),
  contexts: z.record(z.string(), contextSchema, { error: "a mapping from names to contexts" }).nullable().default(null),
};

/** The schema of `contexts.yaml`: each value is checked on its own. */
export const contextsSchema: z.ZodType<ContextsShape> = z.strictObject(fileFields, {
  error: "a mapping with the keys current and contexts",
});

/** Returns the keys allowed at a path of the file. */
export function contextKeysAt(path: ConfigPath): readonly string[] {
  if (path.length === 0) return Object.keys(fileFields);
  return path.length === 2 && path[0] === "contexts" ? Object.keys(contextFields) : [];
}
