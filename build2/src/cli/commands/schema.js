/** `rolecall schema config|result`: prints a JSON Schema. */
export async function schema({ args, result, print }) {
    const document = args.positionals[0] === "config"
        ? (await import("../../config/schema/json-schema.js")).configJsonSchema()
        : (await import("../result/schema.js")).resultSchema;
    result.data = document;
    print(`${JSON.stringify(document, null, 2)}\n`);
}
//# sourceMappingURL=schema.js.map