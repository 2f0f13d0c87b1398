/** A client of the xDS protocol, with Envoy's own definitions. */
import { resolve } from "node:path";
import {
  Client,
  type ChannelCredentials,
  type ChannelOptions,
  credentials,
  type ClientDuplexStream,
} from "@grpc/grpc-js";
import { loadSync, type MethodDefinition, type ServiceDefinition } from "@grpc/proto-loader";
import { until } from "./until.ts";

/** A request, with the field names of Envoy's definitions. */
export type WireRequest = Readonly<Record<string, unknown>>;

/** A response of either form. */
export interface WireResponse {
  readonly version_info?: string;
  readonly system_version_info?: string;
  readonly nonce: string;
  readonly type_url: string;
  readonly control_plane: { readonly identifier: string } | null;
  readonly resources: readonly object[];
}

/** An assignment as a client reads it. */
export interface WireAssignment {
  readonly cluster_name: string;
  readonly endpoints: readonly {
    readonly priority: number;
    readonly locality: { readonly zone: string } | null;
    readonly lb_endpoints: readonly WireEndpoint[];
  }[];
  readonly policy: { readonly overprovisioning_factor: { readonly value: number } | null } | null;
}

interface WireEndpoint {
  readonly health_status: string;
  readonly load_balancing_weight: { readonly value: number } | null;
  readonly endpoint: {
    readonly hostname: string;
    readonly address: { readonly socket_address: { readonly address: string; readonly port_value: number } };
    readonly health_check_config: { readonly hostname: string } | null;
  };
}

const definitions = resolve("node_modules/@grpc/grpc-js-xds/deps");
const packages = loadSync(
  ["service/discovery/v3/ads", "service/endpoint/v3/eds", "config/endpoint/v3/endpoint"].map(
    (name) => `envoy/${name}.proto`,
  ),
  {
    keepCase: true,
    longs: Number,
    enums: String,
    defaults: true,
    json: true,
    includeDirs: ["envoy-api", "googleapis", "protoc-gen-validate", "xds"].map((name) => `${definitions}/${name}`),
  },
);

const services = {
  ads: "envoy.service.discovery.v3.AggregatedDiscoveryService",
  eds: "envoy.service.endpoint.v3.EndpointDiscoveryService",
} as const;

/** The type of the resources that rolecall serves, in Envoy's words. */
export const assignmentType = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";

/** The methods of both services. */
export const xdsMethods = {
  "ads sotw": methodOf("ads", "StreamAggregatedResources"),
  "ads delta": methodOf("ads", "DeltaAggregatedResources"),
  "eds sotw": methodOf("eds", "StreamEndpoints"),
  "eds delta": methodOf("eds", "DeltaEndpoints"),
} as const;

function methodOf(service: keyof typeof services, name: string): MethodDefinition<object, object> {
  const definition = packages[services[service]] as ServiceDefinition;
  const method = definition[name];
  if (method === undefined) throw new Error(`Cannot call ${name}: ${services[service]} has no such method`);
  return method;
}

/** One stream of a client. It answers nothing by itself. */
export class XdsClientStream {
  readonly responses: WireResponse[] = [];
  readonly #client: Client;
  readonly #call: ClientDuplexStream<WireRequest, WireResponse>;
  #ended: string | null = null;

  /** @param address `HOST:PORT` */
  constructor(
    address: string,
    method: keyof typeof xdsMethods,
    access: ChannelCredentials = credentials.createInsecure(),
    options: ChannelOptions = {},
  ) {
    const { path, requestSerialize, responseDeserialize } = xdsMethods[method];
    this.#client = new Client(address, access, { "grpc.use_local_subchannel_pool": 1, ...options });
    this.#call = this.#client.makeBidiStreamRequest<WireRequest, WireResponse>(
      path,
      (request) => ("bytes" in request ? (request["bytes"] as Buffer) : requestSerialize(request)),
      (bytes) => responseDeserialize(bytes) as WireResponse,
    );
    this.#call.on("data", (response: WireResponse) => this.responses.push(response));
    this.#call.on("error", (error) => (this.#ended ??= error.message));
    this.#call.on("end", () => (this.#ended ??= "end"));
  }

  /** How the stream ended; `null` while it is open. */
  get ended(): string | null {
    return this.#ended;
  }

  send(request: WireRequest): void {
    this.#call.write(request);
  }

  /** Sends bytes that are no request. */
  sendBytes(bytes: Buffer): void {
    this.#call.write({ bytes });
  }

  /** Stops reading what the server sends. */
  pause(): void {
    this.#call.pause();
  }

  resume(): void {
    this.#call.resume();
  }

  /** The next response that was not taken yet. */
  async next(): Promise<WireResponse> {
    const evidence = (): string => `it ended: ${this.#ended ?? "no"}`;
    return until({ what: "a response", seconds: 20, evidence }, () => this.responses.shift());
  }

  close(): void {
    this.#call.cancel();
    this.#client.close();
  }
}

/** The assignments in a response, whatever its form is. */
export function assignmentsIn({ resources }: WireResponse): readonly WireAssignment[] {
  return resources.map((resource) => ("resource" in resource ? resource.resource : resource) as WireAssignment);
}

/** The endpoints of an assignment, `+` healthy, `-` unhealthy, with their priorities where that is not 0. */
export function listedIn({ endpoints }: WireAssignment): readonly string[] {
  return endpoints.flatMap(({ priority, lb_endpoints: listed }) =>
    listed.map(
      ({ health_status: health, endpoint }) =>
        `${health === "HEALTHY" ? "+" : "-"}${endpoint.hostname}${priority === 0 ? "" : ` (${priority})`}`,
    ),
  );
}
