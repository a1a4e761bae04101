import type { KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";
import { createAuthorizer } from "./authorizer.ts";
import { createBastionDefaulter, createBastionValidator } from "./bastion.ts";
import { createBindingCheck, type MayBind } from "./binding.ts";
import { createCloudProfileValidator } from "./cloud-profile.ts";
import { createControllerRegistrationValidator, judgeControllerDeployment } from "./controller-registration.ts";
import { createCredentialsValidator } from "./credentials.ts";
import { createCustomVerbs } from "./custom-verbs.ts";
import { confirmDeletion } from "./deletion.ts";
import { refuseMalformed } from "./malformed.ts";
import { createDomainReservationValidator } from "./domain-reservation.ts";
import { createNamespacedCloudProfileValidator } from "./namespaced-cloud-profile.ts";
import { paths } from "./paths.ts";
import { createLivedByValidator } from "./lived-by.ts";
import { createReferencedValidator } from "./referenced.ts";
import { judgeProject } from "./project.ts";
import { createProjectNamespaceValidator } from "./project-namespace.ts";
import { createBackupBucketValidator, createControllerInstallationValidator } from "./references-kept.ts";
import { judge, type Webhook } from "./review.ts";
import { createSeedValidator } from "./seed.ts";
import { createWebhookServer, type ServingCertificate, type WebhookServer } from "./server.ts";
import { createShootDefaulter } from "./shoot/defaults.ts";
import { createRegistrations } from "./shoot/registrations.ts";
import { createShootValidator } from "./shoot/shoot.ts";
import { createConfigBound } from "./provider-configs.ts";
import { createWatchedGarden } from "./watched/garden.ts";
import type { MinorRange } from "../api/shoot/kubernetes-versions.ts";
import { createFieldWarner } from "./unknown-fields.ts";

export { createAuthorizer, type Authorizer } from "./authorizer.ts";
export { createBindingCheck, type MayBind } from "./binding.ts";
export { mayRead } from "./reference.ts";
export { newReferences } from "./shoot/references.ts";
export { judge, type AdmissionRequest, type Answer, type Cause, type UserInfo, type Webhook } from "./review.ts";
export {
  createWebhookServer,
  type ServingCertificate,
  type WebhookServer,
  type WebhookServerOptions,
} from "./server.ts";
export { followCertificateFiles, readCertificateFiles } from "./certificate-files.ts";
export { makeServingCertificate } from "./serving-certificate.ts";
export { serveWebhooks, type WebhookAddress, type WebhookService } from "./serving/serve-webhooks.ts";
export { clientConfig, type Endpoint } from "./serving/endpoint.ts";
export { webhookConfigurations } from "./webhook-configurations.ts";

/** The address of the garden's admission server and the client that its rules read with; `mayBind` asks the API server unless told otherwise. */
export interface AdmissionServerOptions {
  readonly client: KubeClient;
  readonly log: Logger;
  readonly host: string;
  readonly port: number;
  readonly tls: ServingCertificate;
  readonly clientCa?: string;
  readonly mayBind?: MayBind;
  /** The versions of Kubernetes that work; those of this build unless told otherwise. */
  readonly minors?: MinorRange | undefined;
}

/** The server of the garden's admission webhooks. */
export function createAdmissionServer({ client, mayBind, minors, ...options }: AdmissionServerOptions): WebhookServer {
  const garden = createWatchedGarden(client, options.log);
  const all = Object.entries(createAdmissionWebhooks({ client: garden.client, mayBind, minors }));
  // What a mutating webhook has admitted is judged yet.
  const webhooks = all.map(([path, webhook]) => [path, isValidating(path) ? garden.noting(webhook) : webhook] as const);
  const server = createWebhookServer({ ...options, webhooks: Object.fromEntries(webhooks) });
  return {
    ...server,
    async start() {
      await garden.start(); // what is not known yet cannot be judged by
      return await server.start();
    },
    async stop() {
      await server.stop();
      await garden.stop();
    },
  };
}

/** The garden's admission webhooks by their paths: defaults and rules that the schemas cannot express. */
export function createAdmissionWebhooks({
  client,
  mayBind,
  minors,
}: {
  readonly client: KubeClient;
  readonly mayBind?: MayBind | undefined;
  readonly minors?: MinorRange | undefined;
}): Webhooks {
  const authorize = createAuthorizer(client);
  const registrations = createRegistrations(client);
  const validators: Webhooks = {
    [paths.shoots]: createShootValidator({
      client,
      registrations,
      authorize,
      mayBind: mayBind ?? createBindingCheck(authorize),
      minors,
    }),
    [paths.credentials]: createCredentialsValidator({ client, authorize }),
    [paths.seeds]: createSeedValidator({ client }),
    [paths.controllerDeployments]: judgeControllerDeployment,
    [paths.controllerRegistrations]: createControllerRegistrationValidator({ client }),
    [paths.cloudProfiles]: createCloudProfileValidator({ client, minors }),
    [paths.namespacedCloudProfiles]: createNamespacedCloudProfileValidator({ client, authorize }),
    [paths.controllerInstallations]: createControllerInstallationValidator({ client }),
    [paths.backupBuckets]: createBackupBucketValidator({ client }),
    [paths.bastions]: createBastionValidator({ client }),
    [paths.domainReservations]: createDomainReservationValidator({ client }),
    [paths.projectNamespaces]: createProjectNamespaceValidator({ client }),
    [paths.livedBy]: createLivedByValidator({ client }),
    [paths.referenced]: createReferencedValidator({ client }),
    [paths.projects]: judgeProject,
    [paths.fields]: async () => judge([]),
    [paths.confirmDeletion]: confirmDeletion,
  };
  const all = {
    [paths.defaultShoots]: createShootDefaulter({ client, registrations, minors }),
    [paths.defaultBastions]: createBastionDefaulter({ client }),
    ...each(createFieldWarner(), each(createCustomVerbs(authorize), validators)),
  };
  return each(refuseMalformed, each(createConfigBound(), all));
}

const isValidating = (path: string): boolean => path.startsWith("/validate/");

type Webhooks = Readonly<Record<string, Webhook>>;

const each = (wrap: (webhook: Webhook) => Webhook, webhooks: Webhooks): Webhooks =>
  Object.fromEntries(Object.entries(webhooks).map(([path, webhook]) => [path, wrap(webhook)]));
