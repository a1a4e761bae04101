import { BackupBucket } from "./core/backup-bucket.ts";
import { BackupEntry } from "./core/backup-entry.ts";
import { CloudProfile } from "./core/cloud-profile.ts";
import { ControllerDeployment } from "./core/controller-deployment.ts";
import { ControllerInstallation } from "./core/controller-installation.ts";
import { ControllerRegistration } from "./core/controller-registration.ts";
import { CredentialsBinding } from "./core/credentials-binding.ts";
import { ExtensionBackupBucket } from "./extensions/backup-bucket.ts";
import { ExtensionBackupEntry } from "./extensions/backup-entry.ts";
import { Bastion } from "./extensions/bastion.ts";
import { Cluster } from "./extensions/cluster.ts";
import { ContainerRuntime } from "./extensions/container-runtime.ts";
import { ControlPlane } from "./extensions/control-plane.ts";
import { DNSRecord } from "./extensions/dns-record.ts";
import { Extension } from "./extensions/extension.ts";
import { Infrastructure } from "./extensions/infrastructure.ts";
import { Network } from "./extensions/network.ts";
import { OperatingSystemConfig } from "./extensions/operating-system-config.ts";
import { SelfHostedShootExposure } from "./extensions/self-hosted-shoot-exposure.ts";
import { Worker } from "./extensions/worker.ts";
import { Project } from "./core/project.ts";
import type { Resource } from "./schema/resource.ts";
import { SecretBinding } from "./core/secret-binding.ts";
import { Seed } from "./core/seed.ts";
import { ShootState } from "./shoot/state.ts";
import { Shoot } from "./shoot/shoot.ts";

/** Every resource of the API, in the order of its documentation. */
export const resources: readonly Resource[] = [
  Shoot,
  CloudProfile,
  Seed,
  Project,
  SecretBinding,
  CredentialsBinding,
  ShootState,
  BackupBucket,
  BackupEntry,
  ControllerRegistration,
  ControllerDeployment,
  ControllerInstallation,
  Cluster,
  Infrastructure,
  ControlPlane,
  Network,
  OperatingSystemConfig,
  Worker,
  DNSRecord,
  Extension,
  ContainerRuntime,
  ExtensionBackupBucket,
  ExtensionBackupEntry,
  Bastion,
  SelfHostedShootExposure,
];
