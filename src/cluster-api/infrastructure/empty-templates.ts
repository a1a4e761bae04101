import { ClusterClass, ShootClusterTemplate } from "../../api/cluster-api/index.ts";
import { createController, createReflector, typeMeta } from "../../kube/index.ts";
import type { ClusterApiDeps, Part } from "../part.ts";
import { EMPTY_TEMPLATE, namesEmptyTemplate } from "./empty-template.ts";

/** Keeps the empty template in every namespace with a ClusterClass that names it. Core makes the classes its owners, and so it goes with the last. */
export function createEmptyTemplates({ management, log }: ClusterApiDeps): Part {
  const controller = createController({
    name: "empty-templates",
    log,
    async reconcile({ name, namespace }) {
      const clusterClass = classes.get(name, namespace);
      if (clusterClass === undefined || !namesEmptyTemplate(clusterClass)) return;
      const metadata = { name: EMPTY_TEMPLATE.name, namespace: clusterClass.metadata.namespace };
      if ((await management.read(ShootClusterTemplate, metadata)) !== undefined) return;
      await management.apply({ ...typeMeta(ShootClusterTemplate), metadata, spec: { template: { spec: {} } } });
      log.info({ namespace: metadata.namespace }, "template that stands for no infrastructure made");
    },
  });
  const classes = createReflector(management, ClusterClass, {
    log,
    onEvent: ({ type, object: { metadata } }) => {
      if (type !== "deleted") controller.enqueue({ name: metadata.name, namespace: metadata.namespace });
    },
  });
  return {
    start() {
      classes.start();
      controller.start();
    },
    async stop() {
      await classes.stop();
      await controller.stop();
    },
  };
}
