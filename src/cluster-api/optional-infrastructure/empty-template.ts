import { apiGroupOf, ShootClusterTemplate, type ClusterClass } from "../../api/cluster-api/index.ts";

/** What stands in a ClusterClass for no infrastructure: a ShootClusterTemplate of this name that asks for nothing. */
export const EMPTY_TEMPLATE = {
  apiVersion: ShootClusterTemplate.apiVersion,
  kind: ShootClusterTemplate.kind,
  name: "no-infrastructure",
} as const;

/** Whether a ClusterClass names no infrastructure, or what stands for none. */
export function hasNoInfrastructure({ spec }: Pick<ClusterClass, "spec">): boolean {
  const { templateRef } = spec.infrastructure ?? {};
  return templateRef === undefined || namesEmptyTemplate({ spec });
}

/** Whether a ClusterClass names what stands for no infrastructure. */
export function namesEmptyTemplate({ spec }: Pick<ClusterClass, "spec">): boolean {
  const { templateRef } = spec.infrastructure ?? {};
  if (templateRef === undefined || apiGroupOf(templateRef) !== apiGroupOf(EMPTY_TEMPLATE)) return false;
  return templateRef.kind === EMPTY_TEMPLATE.kind && templateRef.name === EMPTY_TEMPLATE.name;
}
