/** The table of extension kinds: a line for each. Whatever is derived from it is in `kinds.ts`. */
export { ExtensionBackupBucket } from "./backup-bucket.ts";
export { ExtensionBackupEntry } from "./backup-entry.ts";
export { Bastion } from "./bastion.ts";
export { ContainerRuntime } from "./container-runtime.ts";
export { ControlPlane } from "./control-plane.ts";
export { DNSRecord } from "./dns-record.ts";
export { Extension } from "./extension.ts";
export { Infrastructure } from "./infrastructure.ts";
export { Network } from "./network.ts";
export { OperatingSystemConfig } from "./operating-system-config.ts";
export { SelfHostedShootExposure } from "./self-hosted-shoot-exposure.ts";
export { Worker } from "./worker.ts";
