/**
 * `bare-undici`: what undici alone costs. Reads addresses as one line of JSON from stdin, then asks each for /leader once a second over a client
 * of its own and throws the answer away. Every line on stdin after that is answered with the count of answers so far.
 */
import { createInterface } from "node:readline";
import { Client } from "undici";

let answers = 0;

function ask(client: Client): void {
  client.dispatch(
    { path: "/leader", method: "GET" },
    {
      onRequestStart() {},
      onResponseStart() {},
      onResponseData() {},
      onResponseEnd() {
        answers += 1;
      },
      onResponseError() {},
    },
  );
}

createInterface(process.stdin)
  .once("line", (line) => {
    const apis = JSON.parse(line) as readonly string[];
    for (const [at, api] of apis.entries()) {
      const client = new Client(api, { pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
      setTimeout(() => setInterval(() => ask(client), 1_000), (at / apis.length) * 1_000);
    }
  })
  .on("line", () => process.stdout.write(`${answers}\n`))
  .on("close", () => process.exit(0));
