/** On a ClusterEndpoint that was generated: what from, `user` or `provider`. */
export const GENERATED_LABEL = "perennial.dev/generated";

/** On a ClusterEndpoint that was generated: hash of the host and port that it got, which tells whether it was edited since. */
export const GENERATED_VALUE_LABEL = "perennial.dev/generated-value";

/** "true" on a Cluster whose endpoint was written from a ClusterEndpoint: what it says later is nothing that a user wrote first. */
export const SURFACED_LABEL = "perennial.dev/endpoint-surfaced";

/** The condition of a Cluster that says whether its endpoint is surfaced and serves; for `spec.availabilityGates`. */
export const ENDPOINT_READY_CONDITION = "perennial.dev/EndpointReady";
