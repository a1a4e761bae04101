import { paths } from "../../src/admission/paths.ts";
import type { KubeObject } from "../../src/api/index.ts";

/** Which webhooks are asked about which kind. */
export const askedAbout: Readonly<Record<string, readonly string[]>> = {
  Shoot: [paths.defaultShoots, paths.shoots],
  Seed: [paths.seeds],
  ControllerRegistration: [paths.controllerRegistrations],
  CredentialsBinding: [paths.credentials],
  SecretBinding: [paths.credentials],
  Project: [paths.confirmDeletion, paths.projects],
  CloudProfile: [paths.cloudProfiles],
  NamespacedCloudProfile: [paths.namespacedCloudProfiles],
  ControllerInstallation: [paths.controllerInstallations],
  BackupBucket: [paths.backupBuckets],
  BackupEntry: [paths.livedBy],
  Bastion: [paths.defaultBastions, paths.bastions],
  DomainReservation: [paths.domainReservations],
  ControllerDeployment: [paths.controllerDeployments],
  Quota: [paths.fields],
  ExposureClass: [paths.fields],
};

/** An example of each kind that admission judges, next to those of deploy/examples. */
export const moreExamples: readonly KubeObject[] = [
  {
    apiVersion: "perennial.dev/v1alpha1",
    kind: "DomainReservation",
    metadata: { name: "to-come.example.com" },
    spec: { domain: "to-come.example.com", shootRef: { namespace: "garden-dev", name: "to-come" } },
  },
  {
    apiVersion: "core.gardener.cloud/v1beta1",
    kind: "ControllerRegistration",
    metadata: { name: "provider-local" },
    spec: { resources: [{ kind: "Worker", type: "local" }], deployment: { deploymentRefs: [{ name: "local" }] } },
  },
  {
    apiVersion: "core.gardener.cloud/v1beta1",
    kind: "SecretBinding",
    metadata: { name: "older", namespace: "garden-dev" },
    provider: { type: "local" },
    secretRef: { name: "local", namespace: "garden-dev" },
    quotas: [{ name: "trial", namespace: "garden-dev" }],
  },
  {
    apiVersion: "core.gardener.cloud/v1beta1",
    kind: "Quota",
    metadata: { name: "trial", namespace: "garden-dev" },
    spec: { scope: { kind: "Project" }, metrics: { cpu: "4", memory: "9Gi", "storage.standard": "1Ti" } },
  },
  {
    apiVersion: "core.gardener.cloud/v1beta1",
    kind: "NamespacedCloudProfile",
    metadata: { name: "ours", namespace: "garden-dev" },
    spec: {
      parent: { kind: "CloudProfile", name: "local" },
      kubernetes: { versions: [{ version: "1.34.4", expirationDate: "2030-01-01T00:00:00Z" }] },
      machineImages: [{ name: "local", versions: [{ version: "1.0.0", expirationDate: "2030-01-01T00:00:00Z" }] }],
      machineTypes: [{ name: "huge", cpu: 64, memory: "1Ti" }],
    },
  },
  {
    apiVersion: "core.gardener.cloud/v1beta1",
    kind: "ControllerInstallation",
    metadata: { name: "one" },
    spec: { registrationRef: { name: "provider-local" }, seedRef: { name: "seed-1" } },
  },
  {
    apiVersion: "core.gardener.cloud/v1beta1",
    kind: "BackupBucket",
    metadata: { name: "bucket" },
    spec: { provider: { type: "local", region: "local" } },
  },
  {
    apiVersion: "core.gardener.cloud/v1beta1",
    kind: "BackupEntry",
    metadata: { name: "entry", namespace: "garden-dev" },
    spec: { bucketName: "bucket" },
  },
  {
    apiVersion: "operations.gardener.cloud/v1alpha1",
    kind: "Bastion",
    metadata: { name: "bastion", namespace: "garden-dev" },
    spec: {
      shootRef: { name: "local" },
      sshPublicKey: "ssh-rsa AAAA someone@example.com",
      ingress: [{ ipBlock: { cidr: "1.2.3.4/32" } }],
    },
  },
  {
    apiVersion: "core.gardener.cloud/v1beta1",
    kind: "ControllerDeployment",
    metadata: { name: "local" },
    type: "helm",
    providerConfig: { chart: "Y2hhcnQ=" },
  },
  {
    apiVersion: "core.gardener.cloud/v1beta1",
    kind: "ExposureClass",
    metadata: { name: "internet" },
    handler: "internet",
  },
];
