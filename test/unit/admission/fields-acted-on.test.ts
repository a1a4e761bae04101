import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { unsupportedFields } from "../../../src/admission/shoot/unsupported.ts";
import { jsonSchemaOf } from "../../../src/api/schema/walk.ts";
import type { JsonSchema } from "../../../src/api/schema/structural.ts";
import { ignoredFields } from "../../../src/api/shoot/ignored.ts";
import { shootSpec } from "../../../src/api/shoot/spec.ts";

const server = "spec.kubernetes.kubeAPIServer";
const manager = "spec.kubernetes.kubeControllerManager";
const pool = "spec.provider.workers[]";

/** The file below src that acts on a field, or on each field below it. */
const actedOn: Readonly<Record<string, string>> = {
  "spec.accessRestrictions": "api/placement/choice.ts",
  "spec.cloudProfile": "api/core/effective-profile.ts",
  "spec.cloudProfile.kind": "api/core/effective-profile.ts",
  "spec.cloudProfileName": "api/core/effective-profile.ts",
  "spec.credentialsBindingName": "activities/shoot/view.ts",
  "spec.secretBindingName": "activities/shoot/view.ts",
  "spec.dns.domain": "activities/control-plane/dns.ts",
  "spec.dns.providers[]": "activities/control-plane/dns.ts",
  "spec.exposureClassName": "activities/control-plane/exposure.ts",
  "spec.extensions[].type": "api/registration/shoot-extensions.ts",
  "spec.extensions[].disabled": "api/registration/shoot-extensions.ts",
  "spec.extensions[].providerConfig": "components/extension-objects.ts",
  "spec.hibernation.enabled": "components/context.ts",
  "spec.networking": "components/extension-objects.ts",
  "spec.networking.pods": "components/networks.ts",
  "spec.networking.services": "components/networks.ts",
  "spec.networking.nodes": "components/isolation/destinations.ts",
  "spec.region": "components/extension-objects.ts",
  "spec.resources[].name": "provider-local/extension/note.ts", // extensions refer to resources by it
  "spec.resources[].resourceRef": "activities/extensions/references.ts",
  "spec.schedulerName": "controllers/scheduler/known-shoots.ts",
  "spec.seedName": "activities/shoot/view.ts",
  "spec.seedSelector": "api/placement/choice.ts",
  "spec.tolerations": "api/placement/fit.ts",
  "spec.kubernetes.version": "components/node/pool.ts",
  [server]: "components/kubernetes/kube-apiserver-command.ts",
  [`${server}.encryptionConfig`]: "components/kubernetes/encryption-configuration.ts",
  [manager]: "components/kubernetes/kube-controller-manager.ts",
  "spec.kubernetes.kubeScheduler": "components/kubernetes/kube-scheduler.ts",
  "spec.kubernetes.kubeProxy": "components/kubernetes/kube-proxy.ts",
  "spec.kubernetes.kubelet": "components/node/kubelet-config.ts",
  [`${pool}.kubernetes.kubelet`]: "components/node/kubelet-config.ts",
  "spec.provider": "components/extension-objects.ts",
  [pool]: "components/node/worker.ts",
  [`${pool}.caBundle`]: "components/node/root-certificates.ts",
  [`${pool}.sysctls`]: "components/node/kernel-settings.ts",
  "spec.provider.workersSettings.sshAccess.enabled": "components/node/ssh-access.ts",
  [`${pool}.kubernetes.version`]: "components/node/pool.ts",
  [`${pool}.machine.image`]: "components/node/pool.ts",
  [`${pool}.machine.image.providerConfig`]: "components/node/operating-system-config.ts",
  [`${pool}.controlPlane.backup.credentialsRef`]: "gardenadm/configuration/backup.ts",
  [`${pool}.controlPlane.exposure`]: "components/on-nodes/exposure.ts",
  [`${pool}.cri`]: "components/node/operating-system-config.ts",
  [`${pool}.cri.containerRuntimes`]: "components/extension-objects.ts",
  [`${pool}.labels`]: "components/node/pool.ts",
  [`${pool}.systemComponents`]: "components/node/pool.ts",
};

/** Fields that are handed on whole, so that nothing names what is in them. */
const handedOn: readonly string[] = [
  `${pool}.taints`,
  `${pool}.volume`,
  `${pool}.dataVolumes`,
  `${pool}.machineControllerManager`,
  `${pool}.clusterAutoscaler`,
  `${pool}.controlPlane.backup.credentialsRef`,
  "spec.seedSelector",
  "spec.dns.providers[].credentialsRef",
  "spec.kubernetes.kubelet.kubeReserved",
  `${pool}.kubernetes.kubelet.kubeReserved`,
  "spec.kubernetes.kubelet.memorySwap",
  `${pool}.kubernetes.kubelet.memorySwap`,
];

const fields = leavesOf(jsonSchemaOf(shootSpec), "spec");
const refused = unsupportedFields.map(({ path }) => `spec.${path}`);
const isWithin = (field: string, others: readonly string[]) =>
  others.some((other) => field === other || field.startsWith(`${other}.`) || field.startsWith(`${other}[`));

test("every field of a Shoot is acted on, refused, or said to be ignored", () => {
  expect(fields.length).toBeGreaterThan(150);
  const left = fields.filter((field) => !isWithin(field, [...refused, ...Object.keys(ignoredFields)]));
  expect(left.filter((field) => !isActedOn(field))).toEqual([]);
});

test("no field is said to be ignored that the schema does not have, or that is refused", () => {
  const unknown = Object.keys(ignoredFields).filter((ignored) => !fields.some((field) => isWithin(field, [ignored])));
  expect(unknown).toEqual([]);
  expect(refused.filter((field) => isWithin(field, Object.keys(ignoredFields)))).toEqual([]);
});

/** Whether the file that is in charge of a field knows its name. */
function isActedOn(field: string): boolean {
  const whole = handedOn.find((other) => isWithin(field, [other])) ?? field;
  const file = fileOf(whole);
  return file !== undefined && mentions(file, nameOf(whole));
}

/** The file of the nearest field that one is named for. */
function fileOf(field: string): string | undefined {
  const [nearest] = Object.keys(actedOn)
    .filter((other) => isWithin(field, [other]))
    .sort((a, b) => b.length - a.length);
  return nearest === undefined ? undefined : actedOn[nearest];
}

function mentions(file: string, name: string): boolean {
  const text = readFileSync(join(import.meta.dirname, "../../../src", file), "utf8");
  return new RegExp(`\\b${name}\\b`).test(text);
}

function nameOf(field: string): string {
  return field.replaceAll("[]", "").split(".").at(-1) ?? "";
}

/** The fields that have no fields of their own. */
function leavesOf(schema: JsonSchema, path: string): string[] {
  if (schema.items) return leavesOf(schema.items, `${path}[]`);
  const properties = Object.entries(schema.properties ?? {});
  if (properties.length === 0) return [path];
  return properties.flatMap(([name, inner]) => leavesOf(inner, `${path}.${name}`));
}
