import { createBootstrapController } from "./bootstrap.ts";
import { createEndpointRecordController } from "./endpoint-record/controller.ts";
import { createEndpointController } from "./endpoint/controller.ts";
import { createEmptyTemplates } from "./optional-infrastructure/empty-templates.ts";
import { createMendedClusters } from "./optional-infrastructure/mended-clusters.ts";
import type { ClusterApiDeps, Part } from "./part.ts";
import { createShootProvider } from "./shoot-provider/provider.ts";

/** All controllers of this process, each made anew for every term in which it leads. */
export const controllers: readonly ((deps: ClusterApiDeps) => Part)[] = [
  createEndpointController,
  createEndpointRecordController,
  createMendedClusters,
  createEmptyTemplates,
  createShootProvider,
  createBootstrapController,
];
