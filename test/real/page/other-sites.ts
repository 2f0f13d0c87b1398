import { createServer, request as sendOn, type RequestListener } from "node:http";
import type { TestContext } from "node:test";
import { portOf } from "../../fake/listen.ts";

async function serve(context: TestContext, listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return portOf(server);
}

/**
 * A site whose page tries to change a cluster of rolecall with what a browser lets it send: forms of every type, and
 * fetch with and without a preflight. It is another site for the browser: another host name.
 */
export async function openHostileSite(
  context: TestContext,
  target: string,
): Promise<{ readonly url: string; readonly reached: () => boolean }> {
  let isReached = false;
  const port = await serve(context, (message, response) => {
    if (message.url === "/reached") isReached = true;
    const isScript = message.url === "/attack.js";
    response.setHeader("Content-Type", isScript ? "text/javascript" : "text/html");
    response.end(isScript ? attackOn(target) : page);
  });
  return { url: `http://localhost:${port}/`, reached: () => isReached };
}

const page = `<!doctype html><title>other</title><p id="done"></p><iframe name="sink"></iframe>
<script src="/attack.js"></script>`;

function attackOn(target: string): string {
  const drain = JSON.stringify({ for: "1h", reason: "attack", all: true });
  const switchover = JSON.stringify({ leader: "pg1", candidate: "pg2" });
  return `
const target = ${JSON.stringify(target)};
for (const enctype of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
  for (const [path, body] of [["drains/demo/pg1", ${JSON.stringify(drain)}], ["clusters/demo/switchover", ${JSON.stringify(switchover)}]]) {
    const form = document.createElement("form");
    Object.assign(form, { action: target + path, method: "post", enctype, target: "sink" });
    const field = document.createElement("input");
    Object.assign(field, { name: body.slice(0, -1) + ',"x":"', value: '"}' });
    form.append(field);
    document.body.append(form);
    form.submit();
  }
const requests = ["text/plain", "application/json"].flatMap((type) =>
  ["no-cors", "cors"].flatMap((mode) => [
    fetch(target + "drains/demo/pg1", { method: "POST", mode, credentials: "include", headers: { "content-type": type }, body: ${JSON.stringify(drain)} }),
    fetch(target + "clusters/demo/switchover", { method: "POST", mode, credentials: "include", headers: { "content-type": type }, body: ${JSON.stringify(switchover)} }),
  ]),
);
Promise.allSettled(requests).then(() => fetch("/reached")).then(() => (document.getElementById("done").textContent = "finished"));
`;
}

/** A reverse proxy that serves another server below a path. @returns the address of that path */
export async function openProxy(context: TestContext, target: string, path: string): Promise<string> {
  const port = await serve(context, (message, response) => {
    if (!(message.url ?? "").startsWith(path)) return void response.writeHead(404).end();
    const { method, headers } = message;
    const upstream = sendOn(
      new URL((message.url ?? "").slice(path.length), target),
      { method, headers, agent: false },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    upstream.on("error", () => response.destroy());
    response.on("close", () => upstream.destroy());
    message.pipe(upstream);
  });
  return `http://127.0.0.1:${port}${path}`;
}
