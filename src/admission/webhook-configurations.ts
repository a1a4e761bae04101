import { TUNNEL_ANNOTATION } from "../api/annotations.ts";
import { FORCE_TAKEOVER_ANNOTATION, GARDENER_FINALIZER, type KubeObject } from "../api/index.ts";
import { NAMESPACE_NAME_LABEL, PROJECT_NAME_LABEL, ROLE_LABEL } from "../api/labels.ts";
import { GARDEN_NAMESPACE } from "../api/names.ts";
import { paths } from "./paths.ts";
import { clientConfig, type Endpoint } from "./serving/endpoint.ts";

/** The objects that make an API server ask the admission server; `caBundle` is the PEM that its certificate is checked with. */
export function webhookConfigurations(o: { readonly caBundle: string } & Endpoint): KubeObject[] {
  const webhook = (name: string, path: string, { group = core, resources, operations }: Watched) => ({
    name: `${name}.admission.perennial.dev`,
    clientConfig: clientConfig(o, path),
    rules: [{ apiGroups: [group], apiVersions: ["*"], resources, operations, scope: "*" }],
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
          ...webhook("default-shoots", paths.defaultShoots, { resources: ["shoots"], operations: writes }),
          matchConditions: [specOrTakeoverChanged],
        },
        {
          ...webhook("default-bastions", paths.defaultBastions, {
            group: "operations.gardener.cloud",
            resources: ["bastions"],
            operations: writes,
          }),
          matchConditions: [specChanged],
        },
      ],
    },
    {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingWebhookConfiguration",
      metadata: { name: "perennial" },
      webhooks: [
        {
          ...webhook("shoots", paths.shoots, { resources: ["shoots"], operations: [...writes, "DELETE"] }),
          matchConditions: [specOrAnnotationsChanged],
        },
        {
          ...webhook("seeds", paths.seeds, { resources: ["seeds"], operations: [...writes, "DELETE"] }),
          matchConditions: [specOrTunnelChanged],
        },
        {
          ...webhook("controllerregistrations", paths.controllerRegistrations, {
            resources: ["controllerregistrations"],
            operations: writes,
          }),
          matchConditions: [specChanged],
        },
        {
          ...webhook("secretbindings", paths.credentials, { resources: ["secretbindings"], operations: writes }),
          matchConditions: [contentChangedOrLetGo],
        },
        {
          ...webhook("credentialsbindings", paths.credentials, {
            group: "security.gardener.cloud",
            resources: ["credentialsbindings"],
            operations: writes,
          }),
          matchConditions: [contentChangedOrLetGo],
        },
        ...[
          ["cloudprofiles", paths.cloudProfiles] as const,
          ["namespacedcloudprofiles", paths.namespacedCloudProfiles] as const,
          ["controllerinstallations", paths.controllerInstallations] as const,
          ["projects", paths.projects] as const,
        ].map(([resource, path]) => ({
          ...webhook(resource, path, { resources: [resource], operations: writes }),
          matchConditions: [specChanged],
        })),
        {
          ...webhook("controllerdeployments", paths.controllerDeployments, {
            resources: ["controllerdeployments"],
            operations: writes,
          }),
          matchConditions: [contentChanged],
        },
        webhook("backupentries", paths.livedBy, { resources: ["backupentries"], operations: ["DELETE"] }),
        {
          ...webhook("dnsrecords", paths.livedBy, {
            group: "extensions.gardener.cloud",
            resources: ["dnsrecords"],
            operations: ["DELETE"],
          }),
          matchConditions: [isLeadershipRecord],
        },
        ...[
          { name: "referenced-in-projects", namespaceSelector: inProjects, failurePolicy: "Fail" },
          { name: "referenced-in-garden", namespaceSelector: inGarden, failurePolicy: "Fail" },
          // Their deletion does not depend on us, as nothing says that they are of a garden.
          { name: "referenced-elsewhere", namespaceSelector: elsewhere, failurePolicy: "Ignore" },
        ].map(({ name, ...how }) => ({
          ...webhook(name, paths.referenced, {
            group: "",
            resources: ["secrets", "configmaps"],
            operations: ["DELETE"],
          }),
          ...how,
        })),
        webhook("backupbuckets", paths.backupBuckets, { resources: ["backupbuckets"], operations: ["DELETE"] }),
        {
          ...webhook("bastions", paths.bastions, {
            group: "operations.gardener.cloud",
            resources: ["bastions"],
            operations: writes,
          }),
          matchConditions: [specChanged],
        },
        webhook("domainreservations", paths.domainReservations, {
          group: "perennial.dev",
          resources: ["domainreservations"],
          operations: ["CREATE"],
        }),
        {
          ...webhook("fields", paths.fields, {
            resources: ["quotas", "exposureclasses"],
            operations: writes,
          }),
          matchConditions: [contentChanged],
          failurePolicy: "Ignore", // it refuses nothing: without its warnings the write is the same
        },
        ...[
          { name: "project-namespaces", isProject: true, failurePolicy: "Fail" },
          // Its deletion does not depend on us, as nothing says that it is a project's.
          { name: "other-namespaces", isProject: false, failurePolicy: "Ignore" },
        ].map(({ name, isProject, failurePolicy }) => ({
          ...webhook(name, paths.projectNamespaces, { group: "", resources: ["namespaces"], operations: ["DELETE"] }),
          matchConditions: [{ name: "of-a-project", expression: `${isProject ? "" : "!"}(${ofProject})` }],
          failurePolicy,
        })),
        webhook("confirm-deletion", paths.confirmDeletion, {
          resources: ["projects", "shootstates"],
          operations: ["DELETE"],
        }),
      ],
    },
  ];
}

/** What a webhook is asked about. */
interface Watched {
  readonly group?: string;
  readonly resources: readonly string[];
  readonly operations: readonly string[];
}

const core = "core.gardener.cloud";
const writes = ["CREATE", "UPDATE"];

// Writes of labels, finalizers and statuses do not depend on us: neither on our verdict nor on our being there.
const specChanged = {
  name: "spec-changed",
  expression: "request.operation != 'UPDATE' || object.spec != oldObject.spec",
};

/** In CEL: the request takes our finalizer away. */
const letGo = `'${GARDENER_FINALIZER}' in oldObject.metadata.?finalizers.orValue([]) && !('${GARDENER_FINALIZER}' in object.metadata.?finalizers.orValue([]))`;

/** Where the garden is a seed as well, its other DNSRecords do not depend on us. */
const isLeadershipRecord = { name: "leadership-record", expression: "oldObject.metadata.name.endsWith('-leadership')" };

/** The API server counts changes of all but the metadata and the status. */
const contentChanged = {
  name: "content-changed",
  expression: "request.operation != 'UPDATE' || object.metadata.generation != oldObject.metadata.generation",
};

const contentChangedOrLetGo = {
  name: "content-changed-or-let-go",
  expression: `${contentChanged.expression} || ${letGo}`,
};

const inGarden = { matchLabels: { [NAMESPACE_NAME_LABEL]: GARDEN_NAMESPACE } };

const notInGarden = { key: NAMESPACE_NAME_LABEL, operator: "NotIn", values: [GARDEN_NAMESPACE] };

const inProjects = { matchExpressions: [{ key: PROJECT_NAME_LABEL, operator: "Exists" }, notInGarden] };

const elsewhere = { matchExpressions: [{ key: PROJECT_NAME_LABEL, operator: "DoesNotExist" }, notInGarden] };

/** In CEL: the namespace that is deleted bears the labels of a project's. */
const ofProject =
  `oldObject.metadata.?labels[?'${ROLE_LABEL}'].orValue('') == 'project' || ` +
  `'${PROJECT_NAME_LABEL}' in oldObject.metadata.?labels.orValue({})`;

const annotationOf = (object: string, annotation: string): string =>
  `${object}.metadata.?annotations[?'${annotation}'].orValue('')`;

const specOrTunnelChanged = {
  name: "spec-or-tunnel-changed",
  expression: `${specChanged.expression} || ${annotationOf("object", TUNNEL_ANNOTATION)} != ${annotationOf("oldObject", TUNNEL_ANNOTATION)}`,
};

const specOrTakeoverChanged = {
  name: "spec-or-takeover-changed",
  expression: `${specChanged.expression} || ${annotationOf("object", FORCE_TAKEOVER_ANNOTATION)} != ${annotationOf("oldObject", FORCE_TAKEOVER_ANNOTATION)}`,
};

const specOrAnnotationsChanged = {
  name: "spec-or-annotations-changed-or-let-go",
  expression:
    "request.operation != 'UPDATE' || object.spec != oldObject.spec || " +
    `object.metadata.?annotations.orValue({}) != oldObject.metadata.?annotations.orValue({}) || ${letGo}`,
};
