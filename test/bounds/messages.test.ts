import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { unrestrictedAccess } from "../../src/core/config/model/listener-access-config.ts";
import { documentMax } from "../../src/core/cluster/documents/document-sizes.ts";
import {
  drainOrderSchema,
  echoRequestSchema,
  feedRequestSchema,
  readFeedMessage,
  selectionSchema,
} from "../../src/features/follow/feed/feed-messages.ts";
import { sentList, sentText } from "../../src/features/follow/feed/state-values.ts";
import { BodyBudget } from "../../src/core/http/message/body-budget.ts";
import {
  announces,
  beats,
  claims,
  decodes,
  endOfFeed,
  guards,
  inPieces,
  keepsAll,
  keepsGeneration,
  list,
  message,
  overhead,
  padded,
  promises,
  receivesCalls,
  receivesFromPeers,
  readsBody,
  readsEtcd,
  readsMember,
  readsRuntime,
  request,
  reservesInAll,
  row,
  subscribes,
  takesCall,
  takesRequest,
  text,
} from "./takers.ts";

// The bounds of what comes in from another process: of each message the largest that is taken, and the next one, which is
// not. What waits to be sent is bounded in test/features/follow/owner/unread-bytes.test.ts.

interface Bound {
  readonly of: string;
  /** In what it is counted. */
  readonly unit: string;
  readonly most: number;
  /** Whether a message of this size is taken; of a text for people: whether all of it is. */
  readonly takes: (size: number, context: TestContext) => boolean | Promise<boolean>;
}

const wanted = { name: "demo", shape: {} };
const order = {
  stream: "s",
  cluster: "demo",
  node: "pg1",
  by: null,
  drain: { forMs: 1, reason: "disk", extent: "all" },
};
const refused: readonly object[] = [];
const hello = {
  version: "1",
  instance: "i",
  stream: "s",
  group: "g",
  resumed: false,
  token: 1,
  refused,
  at: 0,
  added: 0,
};
const refusal = { cluster: "demo", reason: "differs", message: "no" };

const asks = (part: object): boolean => feedRequestSchema.safeParse({ ...request, ...part }).success;
const selects = (part: object): boolean =>
  selectionSchema.safeParse({ stream: "s", add: [], drop: [], ...part }).success;
const orders = (part: object): boolean => drainOrderSchema.safeParse({ ...order, ...part }).success;
const says = (sent: object) => readFeedMessage(sent);

const feed: readonly Bound[] = [
  { of: "POST /feed clusters", unit: "entries", most: 10_000, takes: (size) => asks({ clusters: list(size, wanted) }) },
  {
    of: "POST /feed name of a cluster",
    unit: "characters",
    most: 128,
    takes: (size) => asks({ clusters: [{ ...wanted, name: text(size) }] }),
  },
  { of: "POST /feed version", unit: "characters", most: 64, takes: (size) => asks({ version: text(size) }) },
  { of: "POST /feed name", unit: "characters", most: 256, takes: (size) => asks({ name: text(size) }) },
  {
    of: "POST /feed group",
    unit: "characters",
    most: 64,
    takes: (size) => asks({ resume: { group: text(size), seq: 1 } }),
  },
  {
    of: "POST /feed/clusters add",
    unit: "entries",
    most: 10_000,
    takes: (size) => selects({ add: list(size, wanted) }),
  },
  {
    of: "POST /feed/clusters drop",
    unit: "entries",
    most: 10_000,
    takes: (size) => selects({ drop: list(size, "demo") }),
  },
  { of: "POST /feed/clusters name", unit: "characters", most: 128, takes: (size) => selects({ drop: [text(size)] }) },
  { of: "POST /feed/clusters stream", unit: "characters", most: 64, takes: (size) => selects({ stream: text(size) }) },
  {
    of: "POST /feed/echo stream",
    unit: "characters",
    most: 64,
    takes: (size) => echoRequestSchema.safeParse({ stream: text(size), token: 1 }).success,
  },
  { of: "POST /feed/drain stream", unit: "characters", most: 64, takes: (size) => orders({ stream: text(size) }) },
  { of: "POST /feed/drain cluster", unit: "characters", most: 128, takes: (size) => orders({ cluster: text(size) }) },
  { of: "POST /feed/drain node", unit: "characters", most: 256, takes: (size) => orders({ node: text(size) }) },
  { of: "POST /feed/drain by", unit: "characters", most: 200, takes: (size) => orders({ by: text(size) }) },
  {
    of: "POST /feed/drain reason",
    unit: "characters",
    most: 200,
    takes: (size) => orders({ drain: { ...order.drain, reason: text(size) } }),
  },
  {
    of: "hello version",
    unit: "characters",
    most: 64,
    takes: (size) => says({ hello: { ...hello, version: text(size) } }) !== null,
  },
  {
    of: "hello stream",
    unit: "characters",
    most: 64,
    takes: (size) => says({ hello: { ...hello, stream: text(size) } }) !== null,
  },
  {
    of: "hello group",
    unit: "characters",
    most: 64,
    takes: (size) => says({ hello: { ...hello, group: text(size) } }) !== null,
  },
  {
    of: "hello instance",
    unit: "characters",
    most: 64,
    takes: (size) => says({ hello: { ...hello, instance: text(size) } }) !== null,
  },
  {
    of: "hello refused",
    unit: "entries",
    most: 10_000,
    takes: (size) => says({ hello: { ...hello, refused: list(size, refusal) } }) !== null,
  },
  {
    of: "moved group",
    unit: "characters",
    most: 64,
    takes: (size) => says({ moved: { group: text(size), refused: [] } }) !== null,
  },
  {
    of: "full cluster",
    unit: "characters",
    most: 128,
    takes: (size) => says({ full: { cluster: text(size), form: 1, state: {}, at: 0, added: 0 } }) !== null,
  },
  {
    of: "bye, of which so much is kept",
    unit: "characters",
    most: 200,
    takes: (size) => keepsAll(says({ bye: text(size) }), size),
  },
  {
    of: "message of a refusal, of which so much is kept",
    unit: "characters",
    most: 400,
    takes: (size) => keepsAll(says({ moved: { group: "g", refused: [{ ...refusal, message: text(size) }] } }), size),
  },
  {
    of: "refusals that are kept",
    unit: "entries",
    most: 200,
    takes: (size) => {
      const read = says({ moved: { group: "g", refused: list(size, refusal) } });
      return read !== null && "moved" in read && read.moved.refused.length === size;
    },
  },
  {
    of: "list in a state",
    unit: "entries",
    most: 1_024,
    takes: (size) => sentList(sentText).safeParse(list(size, "x")).success,
  },
  { of: "text in a state", unit: "characters", most: 1_024, takes: (size) => sentText.safeParse(text(size)).success },
  {
    of: "line of a feed",
    unit: "characters",
    most: 8 * 1024 * 1024,
    takes: async (size, context) =>
      (await endOfFeed(context, `{"ready":true}${" ".repeat(size - 14)}`)) === "the stream has ended",
  },
  {
    of: "values in a line of a feed",
    unit: "separators",
    most: 250_000,
    takes: async (size, context) => (await endOfFeed(context, `[${"0,".repeat(size)}0]\n`)) === "the stream has ended",
  },
  {
    of: "members in a line of a feed",
    unit: "members",
    most: 250_000,
    takes: async (size, context) =>
      (await endOfFeed(context, `[${'{"k":0}'.repeat(size)}]\n`)) === "the stream has ended",
  },
  {
    of: "lines of a feed in a row that are no message",
    unit: "lines",
    most: 100,
    takes: async (size, context) => (await endOfFeed(context, "\n".repeat(size))) === "the stream has ended",
  },
  {
    of: "bodies of one caller that are received at a time",
    unit: "bytes",
    most: 16,
    takes: (size) => new BodyBudget({ one: 16, all: 32 }).reserve(size, "one") !== null,
  },
  {
    of: "bodies of all callers that are received at a time",
    unit: "bytes",
    most: 32,
    takes: (size) => reservesInAll(size),
  },
  {
    of: "url of a member in etcd",
    unit: "characters",
    most: 512,
    takes: (size) => readsMember({ url: `http://${"x.".repeat(60)}${text(size - 7 - 120)}`.slice(0, size) }),
  },
  {
    of: "version of a member in etcd",
    unit: "characters",
    most: 64,
    takes: (size) => readsMember({ version: text(size) }),
  },
];

const others: readonly Bound[] = [
  {
    of: "Envoy: names that no pool has, which are kept",
    unit: "entries",
    most: 100,
    takes: (size) => subscribes(Array.from({ length: size }, (_, at) => `pool-${at}`)),
  },
  { of: "Envoy: name that no pool has", unit: "characters", most: 256, takes: (size) => subscribes([text(size)]) },
  { of: "Envoy: request", unit: "bytes", most: 1_048_576, takes: (size, context) => takesRequest(context, size) },
  {
    of: "console: message",
    unit: "bytes",
    most: 65_536,
    takes: (size) => guards((guard) => guard.take(message("S", size - 5))),
  },
  {
    of: "console: columns of a row",
    unit: "columns",
    most: 64,
    takes: (size) => guards((guard) => guard.take(row(size))),
  },
  {
    of: "console: rows of an answer",
    unit: "rows",
    most: 100_000,
    takes: (size) => guards((guard) => guard.take(Buffer.concat(list(size, row(1))))),
  },
  {
    of: "console: answer",
    unit: "bytes",
    most: 16 * 1024 * 1024,
    takes: (size) => guards((guard) => inPieces(size, (piece) => guard.take(piece))),
  },
  {
    of: "console: what comes between answers",
    unit: "bytes",
    most: 65_536,
    takes: (size) => guards((guard) => inPieces(size, (piece) => guard.take(piece)), false),
  },
  { of: "etcd: answer", unit: "bytes", most: 262_144, takes: (size, context) => readsEtcd(context, size) },
  {
    of: "Runtime API: answer",
    unit: "characters",
    most: 1_000_000,
    takes: (size, context) => readsRuntime(context, [size]),
  },
  {
    of: "Runtime API: answers of a session",
    unit: "characters",
    most: 4_000_000,
    takes: (size, context) => readsRuntime(context, [...list(4, 990_000), size - 4 * 990_000 - overhead]),
  },
  { of: "HTTP: body of a call", unit: "bytes", most: 16_384, takes: (size) => readsBody(size) },
  {
    of: "HTTP: body of POST /feed",
    unit: "bytes",
    most: 8 * 1024 * 1024,
    takes: (size) => readsBody(size, 8 * 1024 * 1024),
  },
  {
    of: "status document that a feed brings",
    unit: "characters",
    most: documentMax.report,
    takes: (size) =>
      decodes({ kind: "status", node: "pg1", lock: true, text: padded('{"state":"running","role":"replica"', size) }),
  },
  {
    of: "other document that a feed brings",
    unit: "characters",
    most: documentMax.other,
    takes: (size) =>
      decodes({ kind: "document", name: "history", source: "pg1", status: 200, body: padded("[", size, "]") }),
  },
];

const named = (count: number): readonly object[] =>
  Array.from({ length: count }, (_, at) => ({ pooler: `p${at}`, console: "c", databases: ["d"] }));

const calls: readonly Bound[] = [
  { of: "POST /pauses run", unit: "characters", most: 128, takes: (size) => announces({ run: text(size) }) },
  { of: "POST /pauses cluster", unit: "characters", most: 128, takes: (size) => announces({ cluster: text(size) }) },
  { of: "POST /pauses poolers", unit: "entries", most: 64, takes: (size) => announces({ poolers: named(size) }) },
  {
    of: "POST /pauses console",
    unit: "characters",
    most: 128,
    takes: (size) => announces({ poolers: [{ pooler: "p", console: text(size), databases: ["d"] }] }),
  },
  {
    of: "POST /pauses databases of a pooler",
    unit: "entries",
    most: 256,
    takes: (size) => announces({ poolers: [{ pooler: "p", console: "c", databases: list(size, "d") }] }),
  },
  { of: "POST /pauses deadline", unit: "ms", most: 3_600_000, takes: (size) => announces({ deadline_ms: size }) },
  {
    of: "POST /pauses/{run}/heartbeat open",
    unit: "entries",
    most: 64,
    takes: (size) => beats({ open: list(size, { pooler: "p", databases: ["d"] }) }),
  },
  {
    of: "POST /pauses/{run}/heartbeat databases of a pooler",
    unit: "entries",
    most: 256,
    takes: (size) => beats({ open: [{ pooler: "p", databases: list(size, "d") }] }),
  },
  { of: "POST /claims run", unit: "characters", most: 32, takes: (size) => claims({ run: text(size) }) },
  { of: "POST /claims cluster", unit: "characters", most: 128, takes: (size) => claims({ cluster: text(size) }) },
  { of: "POST /claims by", unit: "characters", most: 128, takes: (size) => claims({ by: text(size) }) },
  { of: "POST /claims instance", unit: "characters", most: 128, takes: (size) => claims({ instance: text(size) }) },
  {
    of: "POST /claims databases",
    unit: "entries",
    most: 16_384,
    takes: (size) => claims({ databases: list(size, { pooler: "p", database: "d" }) }),
  },
  {
    of: "POST /claims name of a database",
    unit: "characters",
    most: 128,
    takes: (size) => claims({ databases: [{ pooler: "p", database: text(size) }] }),
  },
  { of: "databases of all claims that are promised", unit: "databases", most: 65_536, takes: (size) => promises(size) },
  { of: "clusters whose numbers are kept", unit: "clusters", most: 4_096, takes: (size) => keepsGeneration(size) },
  {
    of: "POST /pauses, POST /claims",
    unit: "bytes",
    most: 2 * 1024 * 1024,
    takes: (size) => readsBody(size, 2 * 1024 * 1024),
  },
  {
    of: "calls of one peer that are received at a time",
    unit: "bytes",
    most: 4 * 1024 * 1024,
    takes: (size) => receivesFromPeers(size, true),
  },
  {
    of: "calls of all peers that are received at a time",
    unit: "bytes",
    most: 16 * 1024 * 1024,
    takes: (size) => receivesFromPeers(size, false),
  },
  {
    of: "management: body of a call",
    unit: "bytes",
    most: unrestrictedAccess.limits.bodyMax,
    takes: (size) => takesCall(size),
  },
  {
    of: "management: bodies of one address that are received at a time",
    unit: "bodies",
    most: 8,
    takes: (size) => receivesCalls(size, true),
  },
  {
    of: "management: bodies that are received at a time",
    unit: "bodies",
    most: 64,
    takes: (size) => receivesCalls(size, false),
  },
];

for (const { of, unit, most, takes } of [...feed, ...others, ...calls])
  test(`${of}: ${most} ${unit} are taken, and one more is not`, { timeout: 60_000 }, async (context) => {
    assert.equal(await takes(most, context), true, `${most} ${unit}`);
    assert.equal(await takes(most + 1, context), false, `${most + 1} ${unit}`);
  });
