import { ACCESS_CLASS_LABEL, ACCESS_PURPOSE_LABEL } from "../../api/labels.ts";
import { ManagedResource } from "../../api/index.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { RESOURCE_MANAGER, RESOURCE_MANAGER_SERVER } from "../../components/index.ts";
import { refTo, Secret, unlessGone, type KubeClient } from "../../kube/index.ts";
import type { createComponents } from "../control-plane/components.ts";
import type { WaitTarget } from "../index.ts";
import { changeShootStatus } from "../shoot/patch.ts";

/** `seedClient` is the run's fenced client. */
export interface UnusedResourceManagerDeps {
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
  readonly components: Pick<ReturnType<typeof createComponents>, "destroy" | "removeStaleWebhooks">;
}

/**
 * Takes away a Shoot's resource manager that nothing asks for, once it manages nothing: its webhooks, then what runs, its
 * Secrets, and last the note in the Shoot's status that it is there. While a ManagedResource is left, or a Secret whose
 * token it renews, all of it stays: whose they are is not known, and what they stand for is in use.
 */
export function createResourceManagerRemoval({ gardenClient, seedClient, components }: UnusedResourceManagerDeps) {
  return async (run: ShootRun, step: string): Promise<WaitTarget[]> => {
    if (await managesSomething(seedClient, run)) return [];
    await components.removeStaleWebhooks(run);
    const ending = await components.destroy(run, "resource-manager", step);
    for (const name of [RESOURCE_MANAGER, RESOURCE_MANAGER_SERVER])
      await seedClient.remove(refTo(Secret, { namespace: run.technicalID, name }));
    await changeShootStatus(gardenClient, run, ({ managesResources }) =>
      managesResources === undefined ? undefined : { managesResources: null },
    );
    return ending;
  };
}

/** What is of class `seed` is another resource manager's. */
async function managesSomething(seedClient: KubeClient, { technicalID: namespace }: ShootRun): Promise<boolean> {
  const managed = (await unlessGone(seedClient.list(ManagedResource, { namespace }))) ?? [];
  if (managed.some(({ spec }) => spec.class !== "seed")) return true;
  const secrets = await seedClient.list(Secret, { namespace });
  return secrets.some(({ metadata: { labels = {} } }) => {
    const { [ACCESS_PURPOSE_LABEL]: purpose, [ACCESS_CLASS_LABEL]: ofClass } = labels;
    return purpose === "token-requestor" && ofClass === "shoot";
  });
}
