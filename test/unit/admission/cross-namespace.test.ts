import { expect, test } from "vitest";
import { clusterApiResources } from "../../../src/api/cluster-api/index.ts";
import { resources } from "../../../src/api/index.ts";
import { toCustomResourceDefinition } from "../../../src/api/schema/crd.ts";
import type { Resource } from "../../../src/api/schema/resource.ts";

/**
 * Every field that names a namespace, and why its author reaches nothing of that namespace which is not theirs. Kinds of extensions are left
 * out: they are in seeds, where only flows write them, but for what operators of a seed do.
 */
const judged: Readonly<Record<string, string>> = {
  // Asked about by SubjectAccessReview: test/kube/admission-credentials.test.ts.
  "SecretBinding.secretRef": "src/admission/credentials.ts",
  "SecretBinding.quotas[]": "src/admission/credentials.ts",
  "CredentialsBinding.credentialsRef": "src/admission/credentials.ts",
  "CredentialsBinding.quotas[]": "src/admission/credentials.ts",
  "Shoot.spec.provider.workers[].controlPlane.backup.credentialsRef": "src/admission/shoot/references.ts",
  // Refused, whatever it says: src/admission/shoot/unsupported.ts.
  "Shoot.spec.kubernetes.kubeAPIServer.auditConfig.auditPolicy.configMapRef": "refused",
  // Composed into Shoots by process cluster-api, which asks for user perennial.dev:clusters: src/cluster-api/shoot/references.ts.
  "ShootControlPlane.spec.shootTemplate.spec.kubernetes.kubeAPIServer.auditConfig.auditPolicy.configMapRef":
    "as a Shoot's",
  "ShootControlPlaneTemplate.spec.template.spec.shootTemplate.spec.kubernetes.kubeAPIServer.auditConfig.auditPolicy.configMapRef":
    "as a Shoot's",
  "ShootMachinePool.spec.controlPlane.backup.credentialsRef": "as a Shoot's",
  "ShootMachinePoolTemplate.spec.template.spec.controlPlane.backup.credentialsRef": "as a Shoot's",
  // Cluster-scoped kinds, which administrators write.
  "Seed.spec.backup.credentialsRef": "administrators",
  "Seed.spec.dns.provider.credentialsRef": "administrators",
  "Seed.spec.dns.internal.credentialsRef": "administrators",
  "Seed.spec.dns.defaults[].credentialsRef": "administrators",
  "Project.spec": "administrators",
  "Project.spec.createdBy": "administrators",
  "Project.spec.owner": "administrators",
  "Project.spec.members[]": "administrators",
  "DomainReservation.spec.shootRef": "administrators",
  "BackupBucket.spec.credentialsRef": "administrators",
  "BackupBucket.spec.shootRef": "administrators",
  "ControllerInstallation.spec.registrationRef": "administrators",
  "ControllerInstallation.spec.seedRef": "administrators",
  "ControllerInstallation.spec.shootRef": "administrators",
  "ControllerInstallation.spec.deploymentRef": "administrators",
  "ControllerInstallation.spec.resourceRefs[]": "administrators",
  // The Shoot whose life it ends with; nothing of it is read.
  "BackupEntry.spec.shootRef": "flows",
  // A kind, whose namespace nothing acts on.
  "Quota.spec.scope": "nothing",
};

test("every field by which a user could refer to another namespace is judged, or is known to reach nothing there", () => {
  const garden = [...resources.filter(({ group }) => group !== "extensions.gardener.cloud"), ...clusterApiResources];
  const found = garden.flatMap((resource) => namespacesIn(schemaOf(resource), resource.kind));
  const written = found
    .filter((field) => !/^[^.]+[.]status[.]/.test(field))
    .map((field) => field.replace(/[.]namespace$/, ""));
  expect(written.toSorted()).toEqual(Object.keys(judged).toSorted());
});

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly additionalProperties?: Node | boolean;
}

function schemaOf(resource: Resource): Node {
  const { spec } = toCustomResourceDefinition(resource) as unknown as {
    spec: { versions: { schema: { openAPIV3Schema: Node } }[] };
  };
  return spec.versions[0]?.schema.openAPIV3Schema ?? {};
}

function namespacesIn({ properties = {}, items, additionalProperties }: Node, path: string): string[] {
  return [
    ...Object.entries(properties).flatMap(([name, node]) => [
      ...(/namespace/i.test(name) ? [`${path}.${name}`] : []),
      ...namespacesIn(node, `${path}.${name}`),
    ]),
    ...(items ? namespacesIn(items, `${path}[]`) : []),
    ...(typeof additionalProperties === "object" ? namespacesIn(additionalProperties, `${path}{}`) : []),
  ];
}
