/** The field manager that makes a Shoot; from then on it owns nothing but the Seed's name, until a migration changes it. */
export const CREATOR = "perennial-cluster-api-creation";

/** The field manager of what objects of Cluster API name in a Shoot. */
export const COMPOSER = "perennial-cluster-api";

/** The field manager of ClusterEndpoints and of what they surface; by its name the controller tells its own writes from others'. */
export const ENDPOINT_MANAGER = "perennial-cluster-endpoint";
