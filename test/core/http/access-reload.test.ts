import assert from "node:assert/strict";
import { test } from "node:test";
import { unrestrictedAccess, type ListenerAccess } from "../../../src/core/config/model/listener-access-config.ts";
import { ListenError } from "../../../src/core/http/listener/listen-error.ts";
import { ListenerSet } from "../../../src/core/http/listener/listener-set.ts";
import { sendRequest } from "../../fake/http-request.ts";
import { listenerOf } from "../../fake/config.ts";
import { collectErrors } from "../../fake/node-api-listener.ts";

test("a reload changes the access rules of an open listener; with missing files it changes nothing", async (context) => {
  const inside = { status: 200, phrase: "OK", headers: [], body: Buffer.from("in") };
  const listeners = new ListenerSet({
    handlerFor: () => () => Promise.resolve(inside),
    eventsOf: () => collectErrors([]),
  });
  context.after(() => listeners.close());
  const apply = async (access: Partial<ListenerAccess>): Promise<void> => {
    const prepared = await listeners.prepare([listenerOf({ access: { ...unrestrictedAccess, ...access } })]);
    await prepared.commit();
  };
  const status = async (): Promise<number> =>
    (await sendRequest(`http://127.0.0.1:${listeners.listeners[0]?.port ?? 0}/`)).status;
  await apply({});
  const port = listeners.listeners[0]?.port;
  assert.equal(await status(), 200);
  await apply({ allow: ["10.0.0.0/8"] });
  assert.equal(listeners.listeners[0]?.port, port);
  assert.equal(await status(), 403);
  await assert.rejects(
    apply({ auth: { for: "all", basic: [], bearer: ["/no/such/file"], certificate: false } }),
    ListenError,
  );
  assert.equal(await status(), 403);
  await apply({});
  assert.equal(await status(), 200);
});
