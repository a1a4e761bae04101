import { judge, type Answer, type Cause } from "../../admission/index.ts";
import type { ClusterClass } from "../../api/cluster-api/index.ts";
import type { ClusterApiWebhook } from "../webhook.ts";
import { EMPTY_TEMPLATE, hasNoInfrastructure } from "./empty-template.ts";

/**
 * Lets a ClusterClass do without infrastructure (CE-23): it fills in an empty template, which schema and core's own webhook ask for. A patch
 * that selects the infrastructure of such a class is refused (CE-24).
 */
export const clusterClassWebhook: ClusterApiWebhook = {
  name: "clusterclasses",
  kind: "Mutating",
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  resources: ["clusterclasses"],
  operations: ["CREATE", "UPDATE"],
  matchConditions: [
    {
      name: "no-infrastructure",
      expression: `!has(object.spec.infrastructure) || !has(object.spec.infrastructure.templateRef) || object.spec.infrastructure.templateRef.name == '${EMPTY_TEMPLATE.name}'`,
    },
  ],
  failurePolicy: "Fail", // what it refuses must not pass while this process is away
  create: () => async (request) => judgeClass(request.object as ClusterClass | undefined),
};

function judgeClass(clusterClass: ClusterClass | undefined): Answer {
  if (clusterClass === undefined || !hasNoInfrastructure(clusterClass)) return { allowed: true };
  const causes = patchesOfNothing(clusterClass);
  if (causes.length > 0) return judge(causes);
  const { infrastructure } = clusterClass.spec;
  if (infrastructure?.templateRef !== undefined) return { allowed: true };
  const value = { ...infrastructure, templateRef: EMPTY_TEMPLATE };
  return { allowed: true, patch: [{ op: "add", path: "/spec/infrastructure", value }] };
}

function patchesOfNothing({ spec: { patches = [] } }: ClusterClass): Cause[] {
  return patches.flatMap(({ definitions = [] }, at) =>
    definitions.flatMap(({ selector }, index) =>
      selector.matchResources.infrastructureCluster === true
        ? [
            {
              field: `spec.patches[${at}].definitions[${index}].selector.matchResources.infrastructureCluster`,
              message:
                "selects the infrastructure, and the class has none: name one in spec.infrastructure.templateRef",
            },
          ]
        : [],
    ),
  );
}
