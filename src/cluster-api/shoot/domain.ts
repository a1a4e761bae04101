import type { ShootCluster, ShootControlPlane } from "../../api/cluster-api/index.ts";
import { obstacle, type Obstacle } from "../objects/obstacle.ts";

/** The domain that a Shoot gets from the infrastructure, or what stands against it; undefined where it is the template's to say. */
export type DomainChoice = { readonly domain?: string } | { readonly obstacle: Obstacle };

/** The domain of a Shoot of which the infrastructure brings the endpoint: there is no other place for it than that. Pure. */
export function chooseDomain(
  { spec }: ShootControlPlane,
  infrastructure: Pick<ShootCluster, "spec"> | undefined,
): DomainChoice {
  if (spec.endpointFrom !== "Infrastructure") return {};
  const { domain } = infrastructure?.spec?.endpoint ?? {};
  if (domain === undefined)
    return obstacle(
      "EndpointMissing",
      "spec.endpointFrom is Infrastructure, and the Cluster has no ShootCluster with spec.endpoint",
    );
  const said = spec.shootTemplate?.spec.dns?.domain;
  if (said !== undefined && said !== domain)
    return obstacle(
      "TemplateInvalid",
      `spec.shootTemplate.spec.dns.domain cannot be ${said}: the endpoint is in the ShootCluster's domain ${domain}`,
    );
  return { domain };
}
