/** Webhooks that change control planes: declare one, try it without a cluster, serve it. */
export { answerWith } from "./answer.ts";
export { webhookConfiguration, type WebhookAddress } from "./configuration.ts";
export { withContainer, withEnvironment, withMount, withSidecar, withVolume, withVolumeClaim } from "./containers.ts";
export {
  defineControlPlaneWebhook,
  type ControlPlaneWebhook,
  type MutationContext,
  type Mutator,
  type Mutators,
} from "./define.ts";
export { flagOf, withFlag, withListed, withoutFlag, withoutListed } from "./flags.ts";
export { withFile, withKubeletConfig, withKubeletFlag, withUnit } from "./machine-config.ts";
export { mutate } from "./mutate.ts";
export type { Container, ControlPlaneService, ControlPlaneWorkload } from "./objects.ts";
