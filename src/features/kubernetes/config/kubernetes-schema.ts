import * as z from "zod";
import type { Frozen } from "../../../core/config/model/config.ts";
import { list, name, parsedText, plainText } from "../../../core/config/schema/value-schemas.ts";

const serviceAllowed = "namespace/name of a Service, such as databases/orders";

/** A name of an object in Kubernetes: a label of DNS (RFC 1123). */
const objectName = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** One entry of `kubernetes.services`. */
export const publishedServiceSchema = z.strictObject(
  {
    pool: name().describe("Name of an entry of pools, whose members the Service leads to"),
    service: parsedText({
      allowed: serviceAllowed,
      pattern: /^[a-z0-9-]{1,63}\/[a-z0-9-]{1,63}$/,
      parse: (text) => {
        const [namespace = "", service = ""] = text.split("/");
        return objectName.test(namespace) && objectName.test(service) ? { namespace, name: service } : undefined;
      },
    }).describe("Service without a selector that leads to the members of the pool, as namespace/name"),
    port: plainText("the name of a port", 63)
      .nullable()
      .default(null)
      .describe("Name of the Service's port that leads to the database. Default: its only port"),
  },
  { error: "a mapping with the keys pool, service and port" },
);

/** The most Services. */
const servicesMax = 2_048;

/** The `kubernetes` mapping. */
export const kubernetesSchema = z
  .strictObject(
    {
      services: list(publishedServiceSchema, servicesMax)
        .default([])
        .describe("Services whose EndpointSlices rolecall writes (docs/kubernetes-services.md)"),
      kubeconfig: plainText("the name of a file", 4096)
        .nullable()
        .default(null)
        .describe("kubeconfig with the API server and a token or a client certificate. Default: those of the pod"),
      context: plainText("the name of a context", 253)
        .nullable()
        .default(null)
        .describe("Context of the kubeconfig. Default: its current one"),
      instance: parsedText({
        allowed: "a name of at most 48 lower-case letters, digits and hyphens, such as rolecall-0",
        pattern: /^[a-z0-9-]{1,48}$/,
        parse: (text) => (objectName.test(text) ? text : undefined),
      })
        .nullable()
        .default(null)
        .describe("Name of this rolecall among those that write the same Services. Default: the name of the host"),
    },
    { error: "a mapping with the keys services, kubeconfig, context and instance" },
  )
  .nullable()
  .default(null)
  .describe("The API server of Kubernetes, and what rolecall writes there. Default: none");

/** What rolecall writes to the API server of Kubernetes; `null`: nothing. */
export type KubernetesConfig = Frozen<z.output<typeof kubernetesSchema>>;

/** A Service that leads to the members of a pool. */
export type PublishedServiceConfig = NonNullable<KubernetesConfig>["services"][number];

declare module "../../../core/config/model/config.ts" {
  interface FeatureConfigs {
    readonly kubernetes: KubernetesConfig;
  }
}
