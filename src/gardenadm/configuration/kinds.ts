import { z } from "zod";
import { BackupBucket } from "../../api/core/backup-bucket.ts";
import { BackupEntry } from "../../api/core/backup-entry.ts";
import { CloudProfile } from "../../api/core/cloud-profile.ts";
import { ControllerDeployment } from "../../api/core/controller-deployment.ts";
import { ControllerRegistration } from "../../api/core/controller-registration.ts";
import { CredentialsBinding } from "../../api/core/credentials-binding.ts";
import { NamespacedCloudProfile } from "../../api/core/namespaced-cloud-profile.ts";
import { Project } from "../../api/core/project.ts";
import { SecretBinding } from "../../api/core/secret-binding.ts";
import { object } from "../../api/schema/fields.ts";
import { namespacedMeta } from "../../api/schema/meta.ts";
import { Shoot } from "../../api/shoot/shoot.ts";
import { ShootState } from "../../api/shoot/state.ts";

/** A kind that a configuration may hold. */
export interface ConfiguredKind {
  /** The version that is stored. */
  readonly apiVersion: string;
  /** Versions with the same content that may be written too, without their group. */
  readonly alsoServed?: readonly string[];
  readonly kind: string;
  readonly scope: "Namespaced" | "Cluster";
  /** How many of its objects there are: exactly one, at most one, or any number. */
  readonly count: "one" | "optional" | "any";
  readonly schema: z.ZodType;
}

const secret: ConfiguredKind = {
  apiVersion: "v1",
  kind: "Secret",
  scope: "Namespaced",
  count: "any",
  schema: object({
    metadata: namespacedMeta,
    type: z.string().optional(),
    data: z.record(z.string(), z.base64("is not base64")).optional(),
    stringData: z.record(z.string(), z.string()).optional(),
  }),
};

const configMap: ConfiguredKind = {
  apiVersion: "v1",
  kind: "ConfigMap",
  scope: "Namespaced",
  count: "any",
  schema: object({
    metadata: namespacedMeta,
    data: z.record(z.string(), z.string()).optional(),
    binaryData: z.record(z.string(), z.base64("is not base64")).optional(),
  }),
};

/** The kinds of a configuration, as gardenadm knows them upstream (GEP-28), with what `discover` writes besides. */
export const configuredKinds: readonly ConfiguredKind[] = [
  { ...Shoot, count: "one" },
  { ...CloudProfile, count: "one" },
  { ...NamespacedCloudProfile, count: "optional" },
  { ...Project, count: "one" },
  { ...ShootState, count: "optional" },
  { ...ControllerRegistration, count: "any" },
  { ...ControllerDeployment, count: "any" },
  { ...SecretBinding, count: "any" },
  { ...CredentialsBinding, count: "any" },
  { ...BackupBucket, count: "optional" },
  { ...BackupEntry, count: "optional" },
  secret,
  configMap,
];
