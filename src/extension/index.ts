/** The framework for authors of Gardener extension controllers: write an Actuator, run it with createExtensionController. */
export type { Actuator, ActuatorContext, ActuatorResult, ActuatorStatus } from "./actuator.ts";
export { getCluster } from "./cluster.ts";
export { createExtensionController, type ExtensionController } from "./controller.ts";
export type { ExtensionControllerOptions } from "./controller-options.ts";
export { ExtensionError, OperationRefused } from "./errors.ts";
export type { ExtensionKind, ExtensionKinds } from "../api/extensions/kinds.ts";
export type { ClusterFor, ExtensionClass, ExtensionObject, ExtensionStatus } from "./extension-object.ts";
export { createElection, type Election, type ElectionOptions, type Part } from "./election.ts";
export { combineGuards, openGuard, type Guard, type GuardedOperation, type Permit } from "./guard.ts";
export { createLeadershipGuard, type LeadershipGuardOptions } from "./leadership-guard.ts";
export { createHeartbeat, type Heartbeat } from "./heartbeat.ts";
export {
  createMetrics,
  type ControllerName,
  type ControllerObserver,
  type Metrics,
  type OperationResult,
} from "./metrics.ts";
export { serveHealth, type HealthOptions } from "../health.ts";
export { readSecret } from "./secret.ts";
export type { RateLimit } from "./token-bucket.ts";
export {
  createLeaderLookup,
  createZoneServers,
  type Leader,
  type LeaderLookup,
  type ZoneServers,
} from "../dns/index.ts";
export { createKubeClient } from "./client.ts";
export {
  createWebhookServer,
  judge,
  makeServingCertificate,
  type AdmissionRequest,
  type Answer,
  type Cause,
  type Webhook,
  type WebhookServer,
  type WebhookServerOptions,
} from "../admission/index.ts";
export type { JsonPatchOperation } from "../kube/index.ts";
export { createEventRecorder, type EventRecorder, type Reporter } from "../kube/index.ts";
export { defineKind, refTo, type Kind, type KubeClient, type ObjectRef } from "../kube/index.ts";
export { createLogger, type Logger } from "../log.ts";
export {
  answerWith,
  defineControlPlaneWebhook,
  flagOf,
  mutate,
  webhookConfiguration,
  withContainer,
  withEnvironment,
  withFile,
  withFlag,
  withKubeletConfig,
  withKubeletFlag,
  withListed,
  withMount,
  withoutFlag,
  withoutListed,
  withSidecar,
  withUnit,
  withVolume,
  withVolumeClaim,
  type ControlPlaneWebhook,
  type MutationContext,
  type Mutator,
  type Mutators,
  type WebhookAddress,
} from "./webhook/index.ts";
