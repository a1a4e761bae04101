import type { ExtensionReport } from "../activities/shoot/extension-reports.ts";
import { extensionKinds } from "../api/extensions/kinds.ts";
import type { KubeObject } from "../api/schema/meta.ts";
import type { KubeClient } from "../kube/index.ts";
import type { Heartbeats } from "./heartbeats.ts";

/** Of a Shoot's own health say nothing: an access for people, and a way into clusters that host themselves. */
const silent: readonly string[] = ["Bastion", "SelfHostedShootExposure"];

const kinds = Object.values(extensionKinds).filter(
  ({ kind, scope }) => scope === "Namespaced" && !silent.includes(kind),
);

/** What the extension objects in a Shoot's namespace say of themselves; those that say nothing are left out. */
export async function readReports(
  seed: Pick<KubeClient, "list">,
  heartbeats: Pick<Heartbeats, "heardAt">,
  namespace: string,
): Promise<ExtensionReport[]> {
  const lists = kinds.map(async ({ apiVersion, kind }): Promise<KubeObject[]> =>
    seed.list({ apiVersion, kind }, { namespace }),
  );
  return (await Promise.all(lists)).flat().flatMap(({ kind, metadata, ...object }) => {
    const { conditions = [] } = (object["status"] ?? {}) as Pick<ExtensionReport, "conditions">;
    const { type = "" } = (object["spec"] ?? {}) as { type?: string };
    if (conditions.length === 0) return [];
    return [{ kind, name: metadata.name, namespace, conditions, heardAt: heartbeats.heardAt(kind, type) }];
  });
}
