import protobuf from "protobufjs/light.js";
import { countOf, isObject, type JsonObject, listOf, objectOf } from "../../../core/cluster/values/json.ts";
import type { Assignment, ListedEndpoint } from "../assignment/assignment.ts";
import type { XdsClient, XdsForm, XdsRequest, XdsResponse } from "../protocol/xds-messages.ts";
import { envoyApi } from "./envoy-api.ts";
import { shownText } from "./shown-text.ts";

const root = protobuf.Root.fromJSON(envoyApi);
const discovery = "envoy.service.discovery.v3";
const requestTypes = { sotw: `${discovery}.DiscoveryRequest`, delta: `${discovery}.DeltaDiscoveryRequest` } as const;
const responseTypes = { sotw: `${discovery}.DiscoveryResponse`, delta: `${discovery}.DeltaDiscoveryResponse` } as const;
const assignmentType = "envoy.config.endpoint.v3.ClusterLoadAssignment";

/** How much is kept of what a client says of itself and of its reasons, in characters. */
const kept = { name: 256, reason: 1_000 } as const;

/** How a response is encoded, and by whom it says that it is. */
export interface ResponseForm {
  readonly form: XdsForm;
  /** The instance of rolecall, as `control_plane.identifier`. */
  readonly instance: () => string;
}

/**
 * Decodes a request.
 * @throws Error if the bytes are no such message
 */
export function decodeRequest(bytes: Uint8Array, form: XdsForm): XdsRequest {
  const type = root.lookupType(requestTypes[form]);
  const fields: JsonObject = type.toObject(type.decode(bytes), { defaults: true, arrays: true, objects: true });
  const { node, error_detail: error } = fields;
  return {
    client: isObject(node) ? clientOf(node) : null,
    type: textOf(fields["type_url"]),
    nonce: textOf(fields["response_nonce"]),
    refusal: isObject(error) ? shownText(textOf(error["message"]), kept.reason) : null,
    names:
      form === "sotw"
        ? { form, all: textsOf(fields["resource_names"]) }
        : {
            form,
            subscribe: textsOf(fields["resource_names_subscribe"]),
            unsubscribe: textsOf(fields["resource_names_unsubscribe"]),
            versions: objectOf(fields["initial_resource_versions"]),
          },
  };
}

function clientOf({
  id,
  cluster,
  locality,
  user_agent_name: agent,
  user_agent_build_version: build,
}: JsonObject): XdsClient {
  return {
    id: shownText(textOf(id), kept.name),
    cluster: shownText(textOf(cluster), kept.name),
    zone: shownText(textOf(objectOf(locality)["zone"]), kept.name),
    agent: shownText(textOf(agent), kept.name),
    version: isObject(build) ? versionOf(objectOf(build["version"])) : null,
  };
}

function versionOf({ major_number: major, minor_number: minor, patch }: JsonObject): string {
  return [major, minor, patch].map((number) => countOf(number) ?? 0).join(".");
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function textsOf(value: unknown): readonly string[] {
  return listOf(value).map(textOf);
}

/** A response without its nonce, and the whole one that was sent last. */
interface EncodedBody {
  readonly response: XdsResponse;
  readonly bytes: Buffer;
  last: { readonly nonce: string; readonly bytes: Buffer } | null;
}

/** How many bodies are kept: those of a change, for a few zones. */
const bodiesMax = 8;

/** Encodes responses, whose resources are encoded already. What many streams get alike is encoded once. */
export class ResponseEncoder {
  readonly #how: ResponseForm;
  #bodies: readonly EncodedBody[] = [];

  constructor(how: ResponseForm) {
    this.#how = how;
  }

  /** @returns bytes that other streams share: nobody may change them */
  encode(response: XdsResponse): Buffer {
    const { nonce } = response;
    const body = this.#bodyOf(response);
    // Streams that began together have the same nonces, too.
    if (body.last?.nonce === nonce) return body.last.bytes;
    // The fields of a message may come one after another, in any order.
    const bytes = Buffer.concat([body.bytes, encode(responseTypes[this.#how.form], { nonce })]);
    body.last = { nonce, bytes };
    return bytes;
  }

  #bodyOf(response: XdsResponse): EncodedBody {
    const known = this.#bodies.find((body) => isAlike(body.response, response));
    if (known !== undefined) return known;
    const body = { response, bytes: encodeBody(response, this.#how), last: null };
    this.#bodies = [body, ...this.#bodies].slice(0, bodiesMax);
    return body;
  }
}

function isAlike(one: XdsResponse, other: XdsResponse): boolean {
  return (
    one.version === other.version &&
    one.type === other.type &&
    one.resources.length === other.resources.length &&
    one.resources.every(({ name, version, value }, at) => {
      const resource = other.resources[at];
      return resource?.value === value && resource.name === name && resource.version === version;
    })
  );
}

function encodeBody({ type, version, resources }: XdsResponse, { form, instance }: ResponseForm): Buffer {
  const common = { type_url: type, control_plane: { identifier: instance() } };
  const packed = ({ value }: XdsResponse["resources"][number]): object => ({ type_url: type, value });
  const fields =
    form === "sotw"
      ? { ...common, version_info: version, resources: resources.map(packed) }
      : {
          ...common,
          system_version_info: version,
          resources: resources.map((resource) => ({
            name: resource.name,
            version: resource.version,
            resource: packed(resource),
          })),
        };
  return encode(responseTypes[form], fields);
}

/**
 * Encodes what a pool lists for the Envoys of a zone: endpoints of their zone have priority 0, others priority 1.
 * @param zone a zone of the pool; `null`: all endpoints have priority 0
 */
export function encodeAssignment(pool: string, assignment: Assignment, zone: string | null): Buffer {
  const { endpoints, overprovisioning, staleAfterMs, checksAt } = assignment;
  return encode(assignmentType, {
    cluster_name: pool,
    endpoints:
      zone === null
        ? [{ priority: 0, lb_endpoints: endpoints.map((one) => encodable(one, checksAt)) }]
        : zonesOf(endpoints, zone).map((name) => ({
            ...(name === null ? {} : { locality: { zone: name } }),
            priority: name === zone ? 0 : 1,
            lb_endpoints: endpoints.filter((one) => one.zone === name).map((one) => encodable(one, checksAt)),
          })),
    policy: {
      overprovisioning_factor: { value: overprovisioning },
      ...(staleAfterMs === null ? {} : { endpoint_stale_after: durationOf(staleAfterMs) }),
    },
  });
}

/** The zones of endpoints, and the local one in any case: priorities must not have a gap. */
function zonesOf(endpoints: readonly ListedEndpoint[], local: string): readonly (string | null)[] {
  return [...new Set([local, ...endpoints.map(({ zone }) => zone)])];
}

function encodable({ node, host, port, isHealthy, weight }: ListedEndpoint, checksAt: Assignment["checksAt"]): object {
  return {
    endpoint: {
      hostname: node,
      address: addressOf({ host, port }),
      ...(checksAt === null ? {} : { health_check_config: { hostname: node, address: addressOf(checksAt) } }),
    },
    health_status: isHealthy ? "HEALTHY" : "UNHEALTHY",
    ...(weight === null ? {} : { load_balancing_weight: { value: weight } }),
  };
}

function addressOf({ host, port }: { readonly host: string; readonly port: number }): object {
  return { socket_address: { address: host, port_value: port } };
}

function durationOf(ms: number): object {
  return { seconds: Math.floor(ms / 1_000), nanos: (ms % 1_000) * 1_000_000 };
}

function encode(name: string, fields: object): Buffer {
  const type = root.lookupType(name);
  return Buffer.from(type.encode(type.fromObject(fields)).finish());
}
