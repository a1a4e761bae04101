/** The conformance tests that e2e runs: what needs the way from the API server to pods, and what users ask of a cluster first. */
export const sample: readonly string[] = [
  ...[
    "AdmissionWebhook [Privileged:ClusterAdmin] should be able to deny pod and configmap creation [Conformance]",
    "AdmissionWebhook [Privileged:ClusterAdmin] should mutate configmap [Conformance]",
    "AdmissionWebhook [Privileged:ClusterAdmin] should mutate pod and apply defaults after mutation [Conformance]",
    "AdmissionWebhook [Privileged:ClusterAdmin] should unconditionally reject operations on fail closed webhook [Conformance]",
    "Aggregator Should be able to support the 1.17 Sample API Server using the current Aggregator [Conformance]",
    "CustomResourceConversionWebhook [Privileged:ClusterAdmin] should be able to convert from CR v1 to CR v2 [Conformance]",
  ].map((name) => `[sig-api-machinery] ${name}`),
  ...[
    "ServiceAccounts ServiceAccountIssuerDiscovery should support OIDC discovery of service account issuer [Conformance]",
    "ServiceAccounts should mount an API token into pods [Conformance]",
  ].map((name) => `[sig-auth] ${name}`),
  ...[
    "Kubectl client Proxy server should support proxy with --port 0 [Conformance]",
    "Kubectl logs logs should be able to retrieve and filter logs [Conformance]",
  ].map((name) => `[sig-cli] ${name}`),
  ...[
    "DNS should provide /etc/hosts entries for the cluster [Conformance]",
    "DNS should provide DNS for services [Conformance]",
    "DNS should provide DNS for the cluster [Conformance]",
    "EndpointSlice should create and delete Endpoints and EndpointSlices for a Service with a selector specified [Conformance]",
    "EndpointSlice should have Endpoints and EndpointSlices pointing to API Server [Conformance]",
    "HostPort validates that there is no conflict between pods with same hostPort but different hostIP and protocol [LinuxOnly] [Conformance]",
    "Networking Granular Checks: Pods should function for node-pod communication: udp [LinuxOnly] [NodeConformance] [Conformance]",
    "Proxy version v1 A set of valid responses are returned for both pod and service Proxy [Conformance]",
    "Proxy version v1 should proxy through a service and a pod [Conformance]",
    "Services should be able to change the type from ExternalName to ClusterIP [Conformance]",
    "Services should be able to create a functioning NodePort service [Conformance]",
    "Services should provide secure master service [Conformance]",
    "Services should serve a basic endpoint from pods [Conformance]",
  ].map((name) => `[sig-network] ${name}`),
  ...[
    "Pods should support remote command execution over websockets [NodeConformance] [Conformance]",
    "Pods should support retrieving logs from the container over websockets [NodeConformance] [Conformance]",
  ].map((name) => `[sig-node] ${name}`),
];
