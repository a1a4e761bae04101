import type { BackupBucket } from "../../api/core/backup-bucket.ts";
import { ControllerDeployment } from "../../api/core/controller-deployment.ts";
import { ControllerRegistration } from "../../api/core/controller-registration.ts";
import { GARDEN_NAMESPACE } from "../../api/names.ts";
import { readDeployment, readInlineDeployment, type DeploymentReading } from "../../api/registration/deployment.ts";
import { registeredOf } from "../../api/registration/registered.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { Secret } from "../../kube/index.ts";
import { nameOf } from "../configuration/fault.ts";
import type { Collection } from "./collection.ts";
import type { Need } from "./need.ts";
import { neededRegistrations, unofferedPairs } from "../configuration/demand.ts";

/** Gathers the registrations that the Shoot needs, what they deploy, and the Secrets with which their charts are pulled. */
export async function collectRegistrations(need: Need, bucket: Promise<BackupBucket | undefined>): Promise<void> {
  const { shoot, managedInfrastructure, collection } = need;
  const inGarden = new Map(
    (await collection.garden.list(ControllerRegistration)).map((object) => [nameOf(object), object]),
  );
  const all = new Map(inGarden);
  for (const { object } of collection.written)
    if (object.kind === ControllerRegistration.kind) all.set(nameOf(object), ControllerRegistration.parse(object));
  const registered = [...all.values()].map(registeredOf);
  const demand = { shoot, managedInfrastructure, bucketType: (await bucket)?.spec.provider.type };
  const names = neededRegistrations(demand, registered);
  for (const { kind, type } of unofferedPairs(demand, registered))
    collection.note(nameOf(shoot), `needs ${kind} ${type}, which no ControllerRegistration is in charge of`);
  await Promise.all(
    [...all].map(async ([called, registration]) => {
      if (!names.has(registration.metadata.name)) return;
      collection.keep(registration, inGarden.get(called));
      await collectDeployment(registration, collection);
    }),
  );
}

async function collectDeployment(registration: ControllerRegistration, collection: Collection): Promise<void> {
  const references = registration.spec.deployment?.deploymentRefs ?? [];
  if (references.length === 0 && registration.spec.deployment?.type !== undefined)
    await collectChart(registration, readInlineDeployment(registration), collection);
  for (const [index, { name }] of references.entries()) {
    const field = `spec.deployment.deploymentRefs[${index}].name`;
    const named = { by: registration, field, isRequired: true };
    const deployment = await collection.take(ControllerDeployment, { name }, named);
    if (deployment) await collectChart(deployment, readDeployment(deployment), collection);
  }
}

async function collectChart(by: KubeObject, reading: DeploymentReading, collection: Collection): Promise<void> {
  if (reading.is === "invalid") collection.note(nameOf(by), reading.problem);
  if (reading.is !== "helm" || reading.helm.chart.in !== "registry") return;
  const { pullSecret, caSecret } = reading.helm.chart;
  const read = async (name: string | undefined, field: string) => {
    if (name === undefined) return;
    await collection.take(Secret, { namespace: GARDEN_NAMESPACE, name }, { by, field, isRequired: true });
  };
  await Promise.all([
    read(pullSecret, "helm.ociRepository.pullSecretRef"),
    read(caSecret, "helm.ociRepository.caBundleSecretRef"),
  ]);
}
