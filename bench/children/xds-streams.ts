/**
 * `xds-streams XDS-PORT ADMIN-PORT COUNT POOLS`: clients with a stream each that subscribe to the pools `pool-0` upwards by
 * their names and acknowledge the responses, as Envoy does, and one more that never reads. Prints a line once each has had
 * its first response. For each line on stdin it drains or undrains a node, and prints how long each stream waited for its
 * next response from before the request, in ms, as JSON. Ends with stdin.
 */
import { createInterface } from "node:readline";
import { Client, type ClientDuplexStream, credentials } from "@grpc/grpc-js";
import { assignmentType, type WireResponse, xdsMethods } from "../../test/fake/xds-client.ts";

const [xdsPort = "", adminPort = "", countText = "", pools = "1"] = process.argv.slice(2);
const { path, requestSerialize, responseDeserialize } = xdsMethods["ads delta"];
const count = Number(countText);
/** How long after the last stream has its response all are acknowledged, in ms. */
const acknowledgeMs = 100;
const subscribing = requestSerialize({
  type_url: assignmentType,
  node: { id: "envoy", user_agent_name: "envoy" },
  resource_names_subscribe: Array.from({ length: Number(pools) }, (_, at) => `pool-${at}`),
});

let onResponse: (stream: number) => void = () => {};
/** Responses that are acknowledged once all streams have theirs: the work for one stream delays no other one's time. */
let received: { readonly call: ClientDuplexStream<Buffer, Buffer>; readonly bytes: Buffer }[] = [];

function open(stream: number, isRead: boolean): void {
  const client = new Client(`127.0.0.1:${xdsPort}`, credentials.createInsecure(), {
    "grpc.use_local_subchannel_pool": 1,
  });
  const call = client.makeBidiStreamRequest<Buffer, Buffer>(
    path,
    (bytes) => bytes,
    (bytes) => bytes,
  );
  call.on("error", (error) => {
    throw error;
  });
  call.write(subscribing);
  if (!isRead) return;
  call.on("data", (bytes: Buffer) => {
    received.push({ call, bytes });
    onResponse(stream);
  });
}

/** Resolves with the time of each stream's next response. */
function nextResponses(): Promise<readonly number[]> {
  return new Promise((resolve) => {
    const atMs = new Map<number, number>();
    onResponse = (stream) => {
      if (!atMs.has(stream)) atMs.set(stream, performance.now());
      if (atMs.size < count) return;
      onResponse = () => {};
      setTimeout(acknowledge, acknowledgeMs);
      resolve([...atMs.values()]);
    };
  });
}

function acknowledge(): void {
  for (const { call, bytes } of received) {
    const { nonce } = responseDeserialize(bytes) as WireResponse;
    call.write(requestSerialize({ type_url: assignmentType, response_nonce: nonce }));
  }
  received = [];
}

async function change(isDrain: boolean): Promise<readonly number[]> {
  const responses = nextResponses();
  const sinceMs = performance.now();
  const { ok, status } = await fetch(`http://127.0.0.1:${adminPort}/drains/c0/pg2`, {
    method: isDrain ? "POST" : "DELETE",
    headers: { "content-type": "application/json" },
    ...(isDrain ? { body: JSON.stringify({ for: "1h", reason: "bench" }) } : {}),
  });
  if (!ok) throw new Error(`Cannot change a cluster: a drain must be answered 200, got ${status}`);
  return (await responses).map((atMs) => atMs - sinceMs);
}

const first = nextResponses();
for (let stream = 0; stream < count; stream += 1) open(stream, true);
open(count, false);
await first;
process.stdout.write("subscribed\n");
let isDrained = false;
createInterface(process.stdin)
  .on("line", () => {
    isDrained = !isDrained;
    void change(isDrained).then((waits) => process.stdout.write(`${JSON.stringify(waits)}\n`));
  })
  .on("close", () => process.exit(0));
