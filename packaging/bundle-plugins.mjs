/** What bundles leave out. */
import { resolve } from "node:path";

/** Packages of which the program uses a small part, and the files that load only this part. */
const parts = ["http-proxy", "prom-client", "undici"];

/** Loads only the used parts of packages: their indexes load all parts, such as the `fetch` of undici. */
export const onlyNeededParts = {
  name: "only-needed-parts",
  setup({ onResolve }) {
    onResolve({ filter: new RegExp(`^(${parts.join("|")})$`) }, ({ path, importer }) =>
      /\/(node_modules|packaging)\//.test(importer) ? undefined : { path: resolve(`packaging/parts/${path}.cjs`) },
    );
  },
};

/** What loads the commands of the core and of tools, and what features bring to both. */
const commandTables = /\/cli\/specs\/|\/tools\/commands\.ts$|\/features\/\w+\/(commands|tools)\.ts$/;

/** Leaves out the other commands, which the bundle of the service never runs. */
export const onlyService = {
  name: "only-service",
  setup({ onResolve }) {
    onResolve({ filter: /^\.{1,2}\// }, ({ path, kind, importer }) =>
      kind === "dynamic-import" && commandTables.test(importer) && !/\/(serve|validate)\.ts$/.test(path)
        ? { path, external: true }
        : undefined,
    );
  },
};

/** Packages that few set-ups need, by the file of the build that contains them. */
export const rarelyNeededPackages = {
  "packages/grpc-js": { name: "@grpc/grpc-js", entry: "node_modules/@grpc/grpc-js/build/src/index.js" },
  "packages/protobufjs": { name: "protobufjs/light.js", entry: "node_modules/protobufjs/light.js" },
};

/** Loads these packages from their own files of the build. */
export const rarelyNeeded = {
  name: "rarely-needed",
  setup({ onResolve }) {
    for (const [file, { name }] of Object.entries(rarelyNeededPackages))
      onResolve({ filter: new RegExp(`^${name}$`) }, () => ({ path: `./${file}.cjs`, external: true }));
  },
};
