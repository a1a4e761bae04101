import { commandLine, type Flags } from "../command-line.ts";
import { nodeObjectName, type ControlPlaneNode } from "../context.ts";
import type { ConfigFiles } from "../files.ts";
import { etcdPorts, nodeUrl, type EtcdRole } from "./addresses.ts";
import { settings, settingsLink, settingsVolume, type MemberPlace } from "./settings.ts";
import { renderYaml } from "../../yaml.ts";

/** How an etcd is started where nodes carry it: one command for all, and the settings of each node's member in a file. */
export interface NodeConfiguration {
  readonly command: readonly string[];
  /** What the container mounts; the file differs by node, so its content is not in the pod's checksums. */
  readonly mounted: ConfigFiles;
  /** A ConfigMap's name and data for each node. */
  readonly files: readonly { readonly name: string; readonly data: Readonly<Record<string, string>> }[];
}

/** Of the ConfigMap that has the settings of a node's member. */
export const nodeConfigurationName = (role: EtcdRole, node: string): string => nodeObjectName(mountedName(role), node);

const mountedName = (role: EtcdRole): string => `etcd-${role}-config`;

/** Members are called as their nodes are. `quota` is in bytes. */
export function nodeConfiguration(
  role: EtcdRole,
  nodes: readonly ControlPlaneNode[],
  quota: number,
): NodeConfiguration {
  return {
    command: commandLine("etcd", { "config-file": settingsLink.path }),
    mounted: { name: mountedName(role), data: {}, mountPath: settingsVolume.mountPath },
    files: nodes.map((node) => ({
      name: nodeConfigurationName(role, node.name),
      data: { [settingsVolume.file]: configurationFile(settings(placeOf(role, node, nodes), quota)) },
    })),
  };
}

function placeOf(role: EtcdRole, node: ControlPlaneNode, nodes: readonly ControlPlaneNode[]): MemberPlace {
  const { client, peer, metrics } = etcdPorts(role, { nodes });
  const own = nodeUrl(node, client);
  return {
    name: node.name,
    token: `etcd-${role}`,
    peer: nodeUrl(node, peer),
    client: own,
    listen: {
      client: `https://127.0.0.1:${client},${own}`,
      peer: nodeUrl(node, peer),
      metrics: `http://127.0.0.1:${metrics}`,
    },
    initialCluster: nodes.map((each) => `${each.name}=${nodeUrl(each, peer)}`).join(","),
    initialState: node.founds === true ? "new" : "existing",
  };
}

/** etcd's file has the names of its flags, but for those of TLS, which it keeps in two sections. */
function configurationFile(flags: Flags): string {
  const entries = Object.entries(flags).filter(([, value]) => value !== undefined);
  const others = entries.filter(([name]) => !TLS.has(name.replace(/^peer-/, "")));
  const section = (names: (name: string) => boolean) =>
    Object.fromEntries(
      entries
        .filter(([name]) => TLS.has(name.replace(/^peer-/, "")) && names(name))
        .map(([name, value]) => [name.replace(/^peer-/, ""), value]),
    );
  return renderYaml({
    ...Object.fromEntries(others),
    "client-transport-security": section((name) => !name.startsWith("peer-")),
    "peer-transport-security": section((name) => name.startsWith("peer-")),
  });
}

const TLS = new Set(["client-cert-auth", "trusted-ca-file", "cert-file", "key-file"]);
