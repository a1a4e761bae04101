import { admitted, refused, type ShootCase } from "./case.ts";

const networking = "spec.networking";
const at = (field: string) => `${networking}.${field}`;
const controllerManager = "spec.kubernetes.kubeControllerManager";

/** Networks of pods, Services and nodes, and what has to fit into them. */
export const networkCases: readonly ShootCase[] = [
  refused("Services in the pods' network", { [at("services")]: "10.180.0.0/16" }, "overlaps with 10.180.0.0/16"),
  refused("pods in the nodes' network", { [at("pods")]: "172.30.0.0/16" }, "overlaps", at("nodes")),
  refused("Services in the Seed's network", { [at("services")]: "10.227.0.0/16" }, "of Seed seed-1"),
  refused("pods in a fruit", { [at("pods")]: "banana" }, "is not a network in CIDR notation"),
  refused("pods in an address", { [at("pods")]: "10.180.0.0" }, "is not a network in CIDR notation"),
  refused("pods in an address out of range", { [at("pods")]: "10.300.0.0/16" }, "is not a network in CIDR notation"),
  refused("a prefix out of range", { [at("pods")]: "10.180.0.0/33" }, "is not a network in CIDR notation"),
  refused("bits behind the prefix", { [at("pods")]: "10.180.3.7/16" }, "write 10.180.0.0/16"),
  refused("bits behind the prefix of nodes", { [at("nodes")]: "172.30.0.1/16" }, "write 172.30.0.0/16"),
  refused("pods with IPv6", { [at("pods")]: "fd00::/64" }, "IPv6 is not supported"),
  refused("Services with IPv6", { [at("services")]: "fd00:1::/112" }, "IPv6 is not supported"),
  refused("both families", { [at("ipFamilies")]: ["IPv4", "IPv6"] }, "IPv6 is not supported"),
  refused("no family", { [at("ipFamilies")]: [] }, "at least 1"),
  refused("a family that there is not", { [at("ipFamilies")]: ["IPv5"] }, "Unsupported value", at("ipFamilies[0]")),
  refused("two addresses for Services", { [at("services")]: "10.190.0.0/31" }, "between /12 and /28"),
  refused("a quarter of all addresses for Services", { [at("services")]: "64.0.0.0/2" }, "between /12 and /28"),
  refused("four addresses for pods", { [at("pods")]: "10.180.0.0/30" }, "has no room for the /24 that each node gets"),
  refused("no network for pods", { [at("pods")]: undefined }, "must be set for a Shoot with workers"),
  refused("no network for Services", { [at("services")]: undefined }, "must be set for a Shoot with workers"),
  admitted("no network for nodes", { [at("nodes")]: undefined }, "the provider's Infrastructure may say it"),
  refused("no networking", { [networking]: undefined }, "must be set for a Shoot with workers", at("type")),
  admitted("another network plugin", { [at("type")]: "calico" }, "a warning says that no extension is in charge of it"),
  refused("a network plugin with a blank", { [at("type")]: "my plugin" }, "is not a DNS label"),
  refused(
    "a node's network larger than all",
    { [`${controllerManager}.nodeCIDRMaskSize`]: 8 },
    "has no room",
    at("pods"),
  ),
  refused(
    "a node's network for one pod",
    { [`${controllerManager}.nodeCIDRMaskSize`]: 31 },
    "110 pods do not fit into the /31 of a node: set a smaller spec.kubernetes",
    "spec.kubernetes.kubelet.maxPods",
  ),
  refused(
    "a node's network of no address",
    { [`${controllerManager}.nodeCIDRMaskSize`]: 33 },
    "less than or equal to 32",
  ),
  refused(
    "pods of one node that do not fit into its network",
    { "spec.kubernetes.kubelet.maxPods": 100_000 },
    "do not fit",
  ),
  admitted(
    "many pods in larger networks of nodes",
    { "spec.kubernetes.kubelet.maxPods": 500, [`${controllerManager}.nodeCIDRMaskSize`]: 22 },
    "a /22 has room for them",
  ),
];
