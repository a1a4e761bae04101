import { defineFlow } from "../flow/flow.ts";
import { hasExternalDomain, hasInternalDomain, hasWorkers, sourceAnswers } from "./conditions.ts";
import {
  act,
  addressForgotten,
  call,
  deploy,
  inGarden,
  migrateAll,
  onDestination,
  onSource,
  snapshot,
} from "./steps.ts";

/**
 * Takes the lead from a Shoot's seed. Up to the last row everything can be taken back; with the last row the other seed
 * leads, and there is only forward. The API server goes on serving all the while. A takeover asks nothing of the source.
 */
// prettier-ignore
export const migrate = defineFlow("Migrate Shoot", {
  // Every reason why it can't be, before anything is touched
  check:                  { run: inGarden("checkMigration") },
  checkSource:            { run: onSource(call("checkSource")),           after: ["check"], when: [sourceAnswers] },

  // A place to go, while the source works as ever
  destinationNamespace:   { run: onDestination(deploy("namespace")),      after: ["checkSource"] },
  destinationSecrets:     { run: onDestination(call("restoreSecrets")),   after: ["destinationNamespace"] },
  destinationImages:      { run: onDestination(act("warmUp")),            after: ["destinationNamespace"] },
  shortAddress:           { run: onSource(act("lowerTtl")),               after: ["checkSource"], when: [sourceAnswers] },
  oldAddressForgotten:    { run: addressForgotten,                        after: ["shortAddress"], when: [sourceAnswers] },
  firstSnapshot:          { run: onSource(snapshot),                      after: ["checkSource"], when: [sourceAnswers] },

  // From here on the source's own fence leaves the control plane to us
  handover:               { run: onSource(call("markNamespace")),         after: ["destinationSecrets", "destinationImages", "oldAddressForgotten", "firstSnapshot"], when: [sourceAnswers] },

  // Whatever acts, stops, and leaves its state
  migrateWorker:          { run: onSource(migrateAll("Worker")),          after: ["handover"], when: [hasWorkers, sourceAnswers] },
  migrateNetwork:         { run: onSource(migrateAll("Network")),         after: ["handover"], when: [hasWorkers, sourceAnswers] },
  migrateOperatingSystemConfig: { run: onSource(migrateAll("OperatingSystemConfig")), after: ["migrateWorker"], when: [hasWorkers, sourceAnswers] },
  migrateControlPlane:    { run: onSource(migrateAll("ControlPlane")),    after: ["migrateWorker", "migrateNetwork"], when: [hasWorkers, sourceAnswers] },
  migrateInfrastructure:  { run: onSource(migrateAll("Infrastructure")),  after: ["migrateControlPlane"], when: [hasWorkers, sourceAnswers] },
  migrateInternalDns:     { run: onSource(migrateAll("DNSRecord", "internal")), after: ["handover"], when: [hasInternalDomain, sourceAnswers] },
  migrateExternalDns:     { run: onSource(migrateAll("DNSRecord", "external")), after: ["handover"], when: [hasExternalDomain, sourceAnswers] },
  persistState:           { run: onSource(call("persistState")),          after: ["migrateOperatingSystemConfig", "migrateInfrastructure", "migrateInternalDns", "migrateExternalDns"], when: [sourceAnswers] },

  // The other seed leads
  flip:                   { run: inGarden("flip"),                        after: ["persistState", "destinationSecrets", "destinationImages"] },
});
