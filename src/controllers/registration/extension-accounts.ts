import { INSTALLATION_LABEL } from "../../api/labels.ts";
import { EXTENSION_IDENTITIES_NAMESPACE, installationAccount } from "../../api/names.ts";
import {
  createController,
  createReflector,
  refOf,
  ServiceAccount,
  typeMeta,
  type KubeClient,
} from "../../kube/index.ts";
import type { Logger } from "../../log.ts";

/** The garden; `isWanted` says whether the installation of this name is there and its controller is to know the garden. */
export interface ExtensionAccountsDeps {
  readonly gardenClient: KubeClient;
  readonly log: Logger;
  readonly isWanted: (installation: string) => boolean;
}

/**
 * Keeps a service account in the garden for each installed controller that is to speak to the garden, and takes it away with
 * the installation: all its tokens die then. What such accounts may do is in deploy/garden/extension-access.yaml.
 */
export function createExtensionAccounts({ gardenClient, log, isWanted }: ExtensionAccountsDeps) {
  const namespace = EXTENSION_IDENTITIES_NAMESPACE;
  const accounts = createReflector(gardenClient, ServiceAccount, {
    namespace,
    labelSelector: INSTALLATION_LABEL,
    log,
    onEvent: ({ object }) => controller.enqueue({ name: object.metadata.labels?.[INSTALLATION_LABEL] ?? "" }),
  });
  const controller = createController({
    name: "extension-accounts",
    log,
    async reconcile({ name: installation }) {
      const name = installationAccount(installation);
      const present = accounts.get(name, namespace);
      if (isWanted(installation) && present === undefined)
        await gardenClient.apply({
          ...typeMeta(ServiceAccount),
          metadata: { namespace, name, labels: { [INSTALLATION_LABEL]: installation } },
          automountServiceAccountToken: false,
        });
      if (!isWanted(installation) && present !== undefined) await gardenClient.remove(refOf(present));
    },
  });
  return {
    check: (installation: string) => controller.enqueue({ name: installation }),
    start() {
      accounts.start();
    },
    synced: () => accounts.synced(),
    /** Nothing is taken away before all is known that it may be for. */
    act: () => controller.start(),
    async stop(): Promise<void> {
      await accounts.stop();
      await controller.stop();
    },
  };
}
