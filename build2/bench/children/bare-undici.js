/**
 * `bare-undici request|dispatch`: the cost of undici alone. Reads addresses as one line of JSON from stdin. Then
 * requests /leader of each once a second over a client of its own, by its usual call or by its leanest one. Reads the
 * answer as text. Answers every further line on stdin with the count of answers so far.
 */
import { createInterface } from "node:readline";
import { Client } from "undici";
let answers = 0;
async function request(client) {
    const { body } = await client.request({ path: "/leader", method: "GET" });
    await body.text();
    answers += 1;
}
function dispatch(client) {
    let text = "";
    client.dispatch({ path: "/leader", method: "GET" }, {
        onRequestStart() { },
        onResponseStart() { },
        onResponseData(_controller, chunk) {
            text += chunk.toString();
        },
        onResponseEnd() {
            answers += text === "" ? 0 : 1;
        },
        onResponseError() { },
    });
}
function probe(client) {
    if (process.argv[2] === "dispatch")
        dispatch(client);
    else
        request(client).catch(() => { }); // it is not counted
}
createInterface(process.stdin)
    .once("line", (line) => {
    const apis = JSON.parse(line);
    for (const [at, api] of apis.entries()) {
        const client = new Client(api, { pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
        setTimeout(() => setInterval(() => probe(client), 1_000), (at / apis.length) * 1_000);
    }
})
    .on("line", () => process.stdout.write(`${answers}\n`))
    .on("close", () => process.exit(0));
//# sourceMappingURL=bare-undici.js.map