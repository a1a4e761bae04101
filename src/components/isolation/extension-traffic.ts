import { destinationLabel, serviceAccessLabel } from "../../api/labels.ts";
import type { KubeObject } from "../../api/index.ts";
import type { ControlPlaneContext } from "../context.ts";
import { blockedNetworks, dns, privateNetworks, publicNetworks, seedApiServer, shootNetworks } from "./destinations.ts";
import { apiServer, etcds } from "./own-traffic.ts";
import { policy, podsWith, tcp, type Traffic } from "./policy.ts";

/**
 * What pods that extensions run in the namespace may ask for by labels, `allowed` each: upstream's labels and names of
 * policies, so that upstream's extensions work as they are. `to-seed-apiserver` and `to-shoot-apiserver` are older ones.
 */
export function extensionTraffic(context: ControlPlaneContext): KubeObject[] {
  const destinations: Readonly<Record<string, Traffic>> = {
    "to-dns": dns,
    "to-runtime-apiserver": seedApiServer(context),
    "to-seed-apiserver": seedApiServer(context),
    "to-public-networks": publicNetworks(context),
    "to-private-networks": privateNetworks(context),
    "to-blocked-cidrs": blockedNetworks(context),
    "to-shoot-networks": shootNetworks(context),
  };
  return [
    ...Object.entries(destinations).map(([label, traffic]) =>
      policy(context, `allow-${label}`, { pods: allowed(destinationLabel(label)), egress: [traffic] }),
    ),
    ...[apiServer, ...etcds].flatMap(({ service, port, pods }) => {
      const label = `to-${service}-tcp-${port}`;
      return reach(context, label, { clients: allowed(serviceAccessLabel(label)), port, pods });
    }),
    ...reach(context, "to-shoot-apiserver", {
      clients: allowed(destinationLabel("to-shoot-apiserver")),
      port: apiServer.port,
      pods: apiServer.pods,
    }),
  ];
}

const allowed = (label: string) => ({ [label]: "allowed" });

/** Both ends have to agree to a connection. */
function reach(
  context: ControlPlaneContext,
  label: string,
  o: {
    readonly clients: Record<string, string>;
    readonly port: number;
    readonly pods: Readonly<Record<string, string>>;
  },
): KubeObject[] {
  const ports = tcp(o.port);
  return [
    policy(context, `egress-${label}`, { pods: o.clients, egress: [{ peers: [podsWith(o.pods)], ports }] }),
    policy(context, `ingress-${label}`, { pods: o.pods, ingress: [{ peers: [podsWith(o.clients)], ports }] }),
  ];
}
