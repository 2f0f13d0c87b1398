/** The type of the only resources that are served: the endpoints of a cluster of Envoy, which is a pool of rolecall. */
export const endpointsType = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";

/** The two forms of the protocol: each response holds whole resources by name; delta also states what a client has. */
export type XdsForm = "sotw" | "delta";

/** Who sends requests. Only the first request of a stream needs to say it. */
export interface XdsClient {
  readonly id: string;
  readonly cluster: string;
  /** The zone in which the client runs; empty if it states none. */
  readonly zone: string;
  /** What it is, such as `envoy`; empty if it does not say. */
  readonly agent: string;
  /** Its version, such as `1.36.2`; `null` if it states none in this form. */
  readonly version: string | null;
}

/** What a request of either form says. Field names are those of envoy.service.discovery.v3 where they differ. */
export interface XdsRequest {
  readonly client: XdsClient | null;
  /** `type_url`; empty on a stream for one type. */
  readonly type: string;
  /** `response_nonce`; empty if the request answers no response. */
  readonly nonce: string;
  /** `error_detail`: why the client refuses the last response; `null` if it does not. */
  readonly refusal: string | null;
  readonly names: SubscribedNames;
}

/** What a request subscribes to: state of the world lists all names each time, delta only the changes. */
export type SubscribedNames =
  | { readonly form: "sotw"; readonly all: readonly string[] }
  | {
      readonly form: "delta";
      readonly subscribe: readonly string[];
      readonly unsubscribe: readonly string[];
      /** `initial_resource_versions`: what the client has from an earlier stream. Only the first request has any. */
      readonly versions: Readonly<Record<string, unknown>>;
    };

/** A resource as it is sent. */
export interface XdsResource {
  readonly name: string;
  readonly version: string;
  /** The encoded ClusterLoadAssignment. */
  readonly value: Uint8Array;
}

export interface XdsResponse {
  readonly type: string;
  readonly version: string;
  readonly nonce: string;
  readonly resources: readonly XdsResource[];
}
