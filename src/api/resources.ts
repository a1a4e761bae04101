import { BackupBucket } from "./core/backup-bucket.ts";
import { BackupEntry } from "./core/backup-entry.ts";
import { CloudProfile } from "./core/cloud-profile.ts";
import { ControllerDeployment } from "./core/controller-deployment.ts";
import { ControllerInstallation } from "./core/controller-installation.ts";
import { ControllerRegistration } from "./core/controller-registration.ts";
import { CredentialsBinding } from "./core/credentials-binding.ts";
import { DomainReservation } from "./core/domain-reservation.ts";
import { Cluster } from "./extensions/cluster.ts";
import * as extensions from "./extensions/index.ts";
import { ExposureClass } from "./core/exposure-class.ts";
import { NamespacedCloudProfile } from "./core/namespaced-cloud-profile.ts";
import { Project } from "./core/project.ts";
import { Quota } from "./core/quota.ts";
import type { Resource } from "./schema/resource.ts";
import { SecretBinding } from "./core/secret-binding.ts";
import { Seed } from "./core/seed.ts";
import { ShootBastion } from "./core/shoot-bastion.ts";
import { ShootState } from "./shoot/state.ts";
import { Shoot } from "./shoot/shoot.ts";

/** Every resource of the API, in the order of its documentation. */
export const resources: readonly Resource[] = [
  Shoot,
  CloudProfile,
  NamespacedCloudProfile,
  Seed,
  Project,
  SecretBinding,
  CredentialsBinding,
  Quota,
  ExposureClass,
  DomainReservation,
  ShootBastion,
  ShootState,
  BackupBucket,
  BackupEntry,
  ControllerRegistration,
  ControllerDeployment,
  ControllerInstallation,
  Cluster,
  ...Object.values(extensions),
];
