import { FORCE_TAKEOVER_ANNOTATION, type KubeObject } from "../api/index.ts";
import { paths } from "./paths.ts";

/** How API servers reach the admission server: by a URL without a path, or through a Service. */
export type Endpoint =
  | { readonly url: string }
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port?: number } };

/** The objects that make an API server ask the admission server; `caBundle` is the PEM that its certificate is checked with. */
export function webhookConfigurations(o: { readonly caBundle: string } & Endpoint): KubeObject[] {
  const webhook = (name: string, path: string, resources: string[], operations: string[]) => ({
    name: `${name}.admission.perennial.dev`,
    clientConfig: clientConfig(o, path),
    rules: [{ apiGroups: ["core.gardener.cloud"], apiVersions: ["*"], resources, operations, scope: "*" }],
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    failurePolicy: "Fail",
    matchPolicy: "Equivalent",
    timeoutSeconds: 10, // a verdict takes several questions to an API server, which may be slow
  });
  return [
    {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "MutatingWebhookConfiguration",
      metadata: { name: "perennial" },
      webhooks: [
        {
          ...webhook("default-shoots", paths.defaultShoots, ["shoots"], ["CREATE", "UPDATE"]),
          matchConditions: [specOrTakeoverChanged],
        },
      ],
    },
    {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingWebhookConfiguration",
      metadata: { name: "perennial" },
      webhooks: [
        {
          ...webhook("shoots", paths.shoots, ["shoots"], ["CREATE", "UPDATE", "DELETE"]),
          matchConditions: [specOrAnnotationsChanged],
        },
        {
          ...webhook("seeds", paths.seeds, ["seeds"], ["CREATE", "UPDATE", "DELETE"]),
          matchConditions: [specChanged],
        },
        {
          ...webhook(
            "controllerregistrations",
            paths.controllerRegistrations,

            ["controllerregistrations"],
            ["CREATE", "UPDATE"],
          ),
          matchConditions: [specChanged],
        },
        webhook("confirm-deletion", paths.confirmDeletion, ["projects", "shootstates"], ["DELETE"]),
      ],
    },
  ];
}

// Writes of labels, finalizers and statuses do not depend on us: neither on our verdict nor on our being there.
const specChanged = {
  name: "spec-changed",
  expression: "request.operation != 'UPDATE' || object.spec != oldObject.spec",
};

const takeoverOf = (object: string): string =>
  `${object}.metadata.?annotations[?'${FORCE_TAKEOVER_ANNOTATION}'].orValue('')`;

const specOrTakeoverChanged = {
  name: "spec-or-takeover-changed",
  expression: `${specChanged.expression} || ${takeoverOf("object")} != ${takeoverOf("oldObject")}`,
};

const specOrAnnotationsChanged = {
  name: "spec-or-annotations-changed",
  expression:
    "request.operation != 'UPDATE' || object.spec != oldObject.spec || " +
    "object.metadata.?annotations.orValue({}) != oldObject.metadata.?annotations.orValue({})",
};

function clientConfig(o: { readonly caBundle: string } & Endpoint, path: string) {
  const caBundle = Buffer.from(o.caBundle).toString("base64");
  if ("url" in o) return { caBundle, url: new URL(path, o.url).href };
  return { caBundle, service: { port: 443, ...o.service, path } };
}
