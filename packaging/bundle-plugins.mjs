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

/** Leaves out the other commands, which the bundle of the service never runs. */
export const onlyService = {
  name: "only-service",
  setup({ onResolve }) {
    onResolve({ filter: /\/(commands|doctor|render)\// }, ({ path, kind, importer }) =>
      kind === "dynamic-import" && /\/cli\/specs\//.test(importer) && !/\/(serve|validate)\.ts$/.test(path)
        ? { path, external: true }
        : undefined,
    );
  },
};
