import { name } from "../schema/value-schemas.ts";
import { elementsOf, fieldsOf, isPresent, readValue, textOf } from "./written-values.ts";

/** The readable parts of a balancer. `undefined` is a value that is missing or invalid. */
export interface PartialBalancer {
  /** As written; `undefined` if missing. */
  readonly name: unknown;
  readonly socket: unknown;
  readonly backends: readonly PartialBackend[];
}

/** The readable parts of a backend of HAProxy. */
export interface PartialBackend {
  readonly name: string | undefined;
  /** `null` if missing, `undefined` if invalid. */
  readonly cluster: string | null | undefined;
  readonly check: string | undefined;
  /** Server name -> node name. Entries whose node is not a text are left out. */
  readonly servers: readonly (readonly [server: string, node: string])[];
}

const nameSchema = name();

/** Reads the parts of a balancer that are valid. */
export function partialBalancer(value: unknown): PartialBalancer {
  const written = fieldsOf(value);
  const haproxy = fieldsOf(written["haproxy"]);
  return {
    name: written["name"] ?? undefined,
    socket: haproxy["socket"],
    backends: elementsOf(haproxy["backends"]).map(partialBackend),
  };
}

function partialBackend(value: unknown): PartialBackend {
  const { name: backend, cluster, check, servers } = fieldsOf(value);
  return {
    name: textOf(backend),
    cluster: isPresent(cluster) ? readValue(nameSchema, cluster) : null,
    check: textOf(check),
    servers: Object.entries(fieldsOf(servers)).flatMap(([server, node]): [string, string][] =>
      typeof node === "string" ? [[server, node]] : [],
    ),
  };
}
