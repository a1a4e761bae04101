import { listed } from "../api/counted.ts";
import { Shoot } from "../api/index.ts";
import type { KubeClient } from "../kube/index.ts";
import { judge, type Webhook } from "./review.ts";

/**
 * Refuses the deletion of a namespace with Shoots (Gardener: webhook `validate-namespace-deletion`). Deleting the namespace would delete the
 * Secrets, the rights of seeds, and the leadership DNSRecord of each Shoot before the Shoot.
 */
export function createProjectNamespaceValidator({ client }: { readonly client: KubeClient }): Webhook {
  return async ({ name = "" }) => {
    const names: string[] = [];
    for await (const { metadata } of client.metadata(Shoot, { namespace: name })) names.push(metadata.name);
    if (names.length === 0) return judge([]);
    const message = `the namespace has Shoots, which are deleted first: ${listed(names, MOST_NAMED)}`;
    return judge([{ field: "metadata.name", message, forbidden: true }]);
  };
}

const MOST_NAMED = 10;
