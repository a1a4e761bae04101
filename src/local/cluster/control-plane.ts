import type { ProcessSpec } from "../process/processes.ts";
import type { KeyPair } from "./pki.ts";
import type { ClusterNetworks } from "../environment/environment.ts";

/** The files and numbers that a control plane's processes are told. */
export interface ControlPlane {
  readonly name: string;
  readonly folder: string;
  readonly address: string;
  readonly networks: ClusterNetworks;
  readonly binaries: Readonly<Record<"etcd" | "kube-apiserver" | "kube-controller-manager" | "kube-scheduler", string>>;
  readonly ports: Readonly<
    Record<"etcd" | "etcd-peer" | "kube-apiserver" | "kube-controller-manager" | "kube-scheduler", number>
  >;
  readonly etcd: { readonly authority: KeyPair; readonly server: KeyPair; readonly client: KeyPair };
  readonly authority: KeyPair;
  readonly server: KeyPair;
  readonly kubeletClient: KeyPair;
  readonly serviceAccount: { readonly keyFile: string; readonly publicKeyFile: string };
  /** Says with which certificate the API server calls webhooks. */
  readonly admissionConfigFile: string;
  readonly kubeconfigs: Readonly<Record<"kube-controller-manager" | "kube-scheduler", string>>;
}

type Command = Pick<ProcessSpec, "name" | "command" | "args">;

/** The etcd of a control plane: without fsync, as it may be lost together with its machine, and as that is what makes it fast. */
export function etcdCommand({ name, folder, binaries, ports, etcd }: ControlPlane): Command {
  const [client, peer] = [`https://127.0.0.1:${ports.etcd}`, `https://127.0.0.1:${ports["etcd-peer"]}`];
  const tls = (prefix: string) => [
    `--${prefix}cert-file=${etcd.server.certificateFile}`,
    `--${prefix}key-file=${etcd.server.keyFile}`,
    `--${prefix}trusted-ca-file=${etcd.authority.certificateFile}`,
    `--${prefix}client-cert-auth`,
  ];
  return {
    name: `${name}-etcd`,
    command: binaries.etcd,
    args: [
      `--name=${name}`,
      `--data-dir=${folder}/etcd`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=${name}=${peer}`,
      ...tls(""),
      ...tls("peer-"),
      "--unsafe-no-fsync",
      "--log-level=warn",
    ],
  };
}

/** The API server, which listens on the environment's gateway address only: where machines and the host both reach it. */
export function apiServerCommand(plane: ControlPlane): Command {
  const { name, address, networks, binaries, ports, etcd, authority, server, kubeletClient } = plane;
  return {
    name: `${name}-kube-apiserver`,
    command: binaries["kube-apiserver"],
    args: [
      `--bind-address=${address}`,
      `--advertise-address=${address}`,
      `--secure-port=${ports["kube-apiserver"]}`,
      `--etcd-servers=https://127.0.0.1:${ports.etcd}`,
      `--etcd-cafile=${etcd.authority.certificateFile}`,
      `--etcd-certfile=${etcd.client.certificateFile}`,
      `--etcd-keyfile=${etcd.client.keyFile}`,
      `--tls-cert-file=${server.certificateFile}`,
      `--tls-private-key-file=${server.keyFile}`,
      `--client-ca-file=${authority.certificateFile}`,
      `--kubelet-client-certificate=${kubeletClient.certificateFile}`,
      `--kubelet-client-key=${kubeletClient.keyFile}`,
      "--kubelet-preferred-address-types=InternalIP",
      "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
      `--service-account-key-file=${plane.serviceAccount.publicKeyFile}`,
      `--service-account-signing-key-file=${plane.serviceAccount.keyFile}`,
      `--service-cluster-ip-range=${networks.services}`,
      "--authorization-mode=Node,RBAC",
      "--enable-admission-plugins=NodeRestriction",
      `--admission-control-config-file=${plane.admissionConfigFile}`,
      "--allow-privileged=true",
      "--profiling=false",
    ],
  };
}

/** The controller manager. It gives nodes their pod ranges, also in the garden, which has none. */
export function controllerManagerCommand(plane: ControlPlane): Command {
  const { name, networks, binaries, ports, authority } = plane;
  const kubeconfig = plane.kubeconfigs["kube-controller-manager"];
  return {
    name: `${name}-kube-controller-manager`,
    command: binaries["kube-controller-manager"],
    args: [
      ...component(kubeconfig, ports["kube-controller-manager"]),
      "--allocate-node-cidrs=true",
      `--cluster-cidr=${networks.pods}`,
      `--service-cluster-ip-range=${networks.services}`,
      `--cluster-signing-cert-file=${authority.certificateFile}`,
      `--cluster-signing-key-file=${authority.keyFile}`,
      `--root-ca-file=${authority.certificateFile}`,
      `--service-account-private-key-file=${plane.serviceAccount.keyFile}`,
      "--use-service-account-credentials=true",
      "--controllers=*,bootstrapsigner,tokencleaner",
      "--kube-api-qps=100",
      "--kube-api-burst=200",
    ],
  };
}

/** The scheduler. */
export function schedulerCommand({ name, binaries, ports, kubeconfigs }: ControlPlane): Command {
  return {
    name: `${name}-kube-scheduler`,
    command: binaries["kube-scheduler"],
    args: [...component(kubeconfigs["kube-scheduler"], ports["kube-scheduler"])],
  };
}

function component(kubeconfig: string, port: number): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
    "--leader-elect=false",
    "--profiling=false",
  ];
}
