import { ClusterClass, ShootClusterTemplate } from "../../api/cluster-api/index.ts";
import { createObjectController, typeMeta } from "../../kube/index.ts";
import type { ClusterApiDeps, Part } from "../part.ts";
import { EMPTY_TEMPLATE, namesEmptyTemplate } from "./empty-template.ts";

/**
 * Keeps the empty template in every namespace with a ClusterClass that names it. Core makes the classes its owners, and so it goes
 * with the last.
 */
export function createEmptyTemplates({ management, log }: ClusterApiDeps): Part {
  return createObjectController({
    name: "empty-templates",
    client: management,
    kind: ClusterClass,
    log,
    async reconcile(clusterClass) {
      if (!namesEmptyTemplate(clusterClass)) return;
      const metadata = { name: EMPTY_TEMPLATE.name, namespace: clusterClass.metadata.namespace };
      if ((await management.read(ShootClusterTemplate, metadata)) !== undefined) return;
      await management.apply({ ...typeMeta(ShootClusterTemplate), metadata, spec: { template: { spec: {} } } });
      log.info({ namespace: metadata.namespace }, "template that stands for no infrastructure made");
    },
  });
}
