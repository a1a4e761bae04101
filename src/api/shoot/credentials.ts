import { z } from "zod";
import { object, timestamp } from "../schema/fields.ts";

const pendingWorkersRollout = object({
  name: z.string().describe("Name is the name of a worker pool."),
  lastInitiationTime: timestamp()
    .optional()
    .describe("LastInitiationTime is the most recent time when the worker rollout was initiated."),
});

const caRotation = object({
  phase: z.string().describe("Phase describes the phase of the certificate authority credential rotation."),
  lastCompletionTime: timestamp()
    .optional()
    .describe(
      "LastCompletionTime is the most recent time when the certificate authority credential rotation was successfully completed.",
    ),
  lastInitiationTime: timestamp()
    .optional()
    .describe(
      "LastInitiationTime is the most recent time when the certificate authority credential rotation was initiated.",
    ),
  lastInitiationFinishedTime: timestamp()
    .optional()
    .describe(
      "LastInitiationFinishedTime is the recent time when the certificate authority credential rotation initiation was completed.",
    ),
  lastCompletionTriggeredTime: timestamp()
    .optional()
    .describe(
      "LastCompletionTriggeredTime is the recent time when the certificate authority credential rotation completion was triggered.",
    ),
  pendingWorkersRollouts: z
    .array(pendingWorkersRollout)
    .optional()
    .describe(
      "PendingWorkersRollouts contains the name of a worker pool and the initiation time of their last rollout due to credentials rotation.",
    ),
});

const sshKeypairRotation = object({
  lastInitiationTime: timestamp()
    .optional()
    .describe("LastInitiationTime is the most recent time when the ssh-keypair credential rotation was initiated."),
  lastCompletionTime: timestamp()
    .optional()
    .describe(
      "LastCompletionTime is the most recent time when the ssh-keypair credential rotation was successfully completed.",
    ),
});

const observabilityRotation = object({
  lastInitiationTime: timestamp()
    .optional()
    .describe("LastInitiationTime is the most recent time when the observability credential rotation was initiated."),
  lastCompletionTime: timestamp()
    .optional()
    .describe(
      "LastCompletionTime is the most recent time when the observability credential rotation was successfully completed.",
    ),
});

const serviceAccountKeyRotation = object({
  phase: z.string().describe("Phase describes the phase of the service account key credential rotation."),
  lastCompletionTime: timestamp()
    .optional()
    .describe(
      "LastCompletionTime is the most recent time when the service account key credential rotation was successfully completed.",
    ),
  lastInitiationTime: timestamp()
    .optional()
    .describe(
      "LastInitiationTime is the most recent time when the service account key credential rotation was initiated.",
    ),
  lastInitiationFinishedTime: timestamp()
    .optional()
    .describe(
      "LastInitiationFinishedTime is the recent time when the service account key credential rotation initiation was completed.",
    ),
  lastCompletionTriggeredTime: timestamp()
    .optional()
    .describe(
      "LastCompletionTriggeredTime is the recent time when the service account key credential rotation completion was triggered.",
    ),
  pendingWorkersRollouts: z
    .array(pendingWorkersRollout)
    .optional()
    .describe(
      "PendingWorkersRollouts contains the name of a worker pool and the initiation time of their last rollout due to credentials rotation.",
    ),
});

const etcdEncryptionKeyRotation = object({
  phase: z.string().describe("Phase describes the phase of the ETCD encryption key credential rotation."),
  lastCompletionTime: timestamp()
    .optional()
    .describe(
      "LastCompletionTime is the most recent time when the ETCD encryption key credential rotation was successfully completed.",
    ),
  lastInitiationTime: timestamp()
    .optional()
    .describe(
      "LastInitiationTime is the most recent time when the ETCD encryption key credential rotation was initiated.",
    ),
  lastInitiationFinishedTime: timestamp()
    .optional()
    .describe(
      "LastInitiationFinishedTime is the recent time when the ETCD encryption key credential rotation initiation was completed.",
    ),
  lastCompletionTriggeredTime: timestamp()
    .optional()
    .describe(
      "LastCompletionTriggeredTime is the recent time when the ETCD encryption key credential rotation completion was triggered.",
    ),
  autoCompleteAfterPrepared: z
    .boolean()
    .optional()
    .describe(
      "AutoCompleteAfterPrepared indicates whether the current ETCD encryption key rotation should be auto completed after the preparation phase has finished. Deprecated.",
    ),
});

const shootCredentialsRotation = object({
  certificateAuthorities: caRotation
    .optional()
    .describe("CertificateAuthorities contains information about the certificate authority credential rotation."),
  sshKeypair: sshKeypairRotation
    .optional()
    .describe("SSHKeypair contains information about the ssh-keypair credential rotation."),
  observability: observabilityRotation
    .optional()
    .describe("Observability contains information about the observability credential rotation."),
  serviceAccountKey: serviceAccountKeyRotation
    .optional()
    .describe("ServiceAccountKey contains information about the service account key credential rotation."),
  etcdEncryptionKey: etcdEncryptionKeyRotation
    .optional()
    .describe("ETCDEncryptionKey contains information about the ETCD encryption key credential rotation."),
});

const encryptionProviderStatus = object({
  type: z.string().optional().describe("Type is the used encryption provider type."),
});

const encryptionAtRest = object({
  resources: z
    .array(z.string())
    .optional()
    .describe("Resources is the list of resources in the Shoot which are currently encrypted."),
  provider: encryptionProviderStatus.describe("Provider contains information about Shoot encryption provider."),
});

/** ShootCredentials contains information about the shoot credentials. */
export const shootCredentials = object({
  rotation: shootCredentialsRotation
    .optional()
    .describe("Rotation contains information about the credential rotations."),
  encryptionAtRest: encryptionAtRest
    .optional()
    .describe("EncryptionAtRest contains information about Shoot data encryption at rest."),
});
