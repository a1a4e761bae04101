import {
  addressForgotten,
  call,
  defineShootFlow,
  deploy,
  inGarden,
  migrateObjects,
  onDestination,
  onSource,
  snapshot,
  stop,
} from "./actions.ts";
import { hasExternalDomain, hasInternalDomain, hasWorkers, managesMachines, sourceAnswers } from "./conditions.ts";

/**
 * Takes the lead from a Shoot's seed. Up to the last row everything can be taken back; with the last row the other seed
 * leads, and there is only forward. The API server goes on serving all the while. A takeover asks nothing of the source.
 */
// prettier-ignore
export const migrate = defineShootFlow("Migrate Shoot", {
  // Every reason why it can't be, before anything is touched
  check:                      { do: inGarden("checkMigration") },
  checkSource:                { do: onSource(call("checkSource")),                after: ["check"], when: [sourceAnswers] },

  // A place to go, while the source works as ever
  destinationNamespace:       { do: onDestination(deploy("namespace")),           after: ["checkSource"] },
  shareState:                 { do: inGarden("shareState"),                       after: ["checkSource"] },
  destinationSecrets:         { do: onDestination(call("restoreKeptSecrets")),    after: ["destinationNamespace", "shareState"] },
  destinationImages:          { do: onDestination(call("warmUpImages")),          after: ["destinationNamespace"] },
  lowerTtl:                   { do: onSource(call("lowerTtl")),                   after: ["checkSource"], when: [sourceAnswers] },
  oldAddressForgotten:        { do: addressForgotten,                             after: ["lowerTtl"], when: [sourceAnswers] },
  firstSnapshot:              { do: onSource(snapshot),                           after: ["checkSource"], when: [sourceAnswers] },

  // From here on the source's own fence leaves the control plane to us
  handover:                   { do: onSource(call("announceHandover")),           after: ["destinationSecrets", "destinationImages", "oldAddressForgotten", "firstSnapshot"], when: [sourceAnswers] },

  // Whatever acts, stops, and leaves its state
  stopClusterAutoscaler:      { do: onSource(stop("cluster-autoscaler")),         after: ["handover"], when: [managesMachines, sourceAnswers], since: "2026-11-26" },
  // Gone before the Worker counts as migrated, also one that nothing asks for any more: it would end the machines that the other seed makes
  stopMachineControllerManager: { do: onSource(stop("machine-controller-manager")),after: ["handover", "stopClusterAutoscaler"], when: [hasWorkers, sourceAnswers], since: "2026-11-26" },
  migrateWorker:              { do: onSource(migrateObjects("Worker")),           after: ["handover", "stopMachineControllerManager"], was: { until: "2026-11-26", after: ["handover"] }, when: [hasWorkers, sourceAnswers] },
  migrateNetwork:             { do: onSource(migrateObjects("Network")),          after: ["handover"], when: [hasWorkers, sourceAnswers] },
  migrateContainerRuntime:    { do: onSource(migrateObjects("ContainerRuntime")), after: ["handover"], when: [hasWorkers, sourceAnswers], since: "2026-11-26" },
  migrateExtensionsBeforeApiServer: { do: onSource(migrateObjects("Extension", "BeforeKubeAPIServer")), after: ["handover"], when: [sourceAnswers], since: "2026-11-26" },
  migrateOperatingSystemConfig: { do: onSource(migrateObjects("OperatingSystemConfig")),after: ["migrateWorker"], when: [hasWorkers, sourceAnswers] },
  migrateControlPlane:        { do: onSource(migrateObjects("ControlPlane")),     after: ["migrateWorker", "migrateNetwork", "migrateContainerRuntime", "migrateExtensionsBeforeApiServer"], was: { until: "2026-11-26", after: ["migrateWorker", "migrateNetwork"] }, when: [hasWorkers, sourceAnswers] },
  migrateExtensionsAfterApiServer: { do: onSource(migrateObjects("Extension", "AfterKubeAPIServer")), after: ["migrateControlPlane"], when: [sourceAnswers], since: "2026-11-26" },
  migrateInfrastructure:      { do: onSource(migrateObjects("Infrastructure")),   after: ["migrateControlPlane"], when: [hasWorkers, sourceAnswers] },
  migrateInternalDns:         { do: onSource(migrateObjects("DNSRecord", "internal")),after: ["handover"], when: [hasInternalDomain, sourceAnswers] },
  migrateExternalDns:         { do: onSource(migrateObjects("DNSRecord", "external")),after: ["handover"], when: [hasExternalDomain, sourceAnswers] },
  persistState:               { do: onSource(call("persistState")),               after: ["migrateOperatingSystemConfig", "migrateInfrastructure", "migrateInternalDns", "migrateExternalDns", "migrateExtensionsAfterApiServer"], was: { until: "2026-11-26", after: ["migrateOperatingSystemConfig", "migrateInfrastructure", "migrateInternalDns", "migrateExternalDns"] }, when: [sourceAnswers] },

  // The other seed leads
  flip:                       { do: inGarden("flip"),                             after: ["persistState", "destinationSecrets", "destinationImages"] },
});
