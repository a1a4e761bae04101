import { KUBELET_UNIT } from "../../api/names.ts";
import { secondsOf } from "../../api/schema/duration.ts";
import { commandLine, unitWords } from "../command-line.ts";
import { imagesFor, type ControlPlaneContext, type WorkerPool } from "../context.ts";
import { imageFile, pathsOf, secretFile, textFile, type Part } from "./file.ts";
import { kubeletConfiguration } from "./kubelet-config.ts";
import { kubernetesVersion, nodeLabels } from "./pool.ts";
import { ROOT_CERTIFICATES } from "./root-certificates.ts";

/**
 * The kubelet: its program out of the image of its version, its configuration, and its unit with exactly one ExecStart, which
 * webhooks and operating systems take apart and extend. The agent writes the kubeconfig that it begins with.
 */
export function kubelet(context: ControlPlaneContext, pool: WorkerPool): Part {
  const { hyperkube } = imagesFor(kubernetesVersion(context, pool));
  const files = [
    secretFile("/var/lib/kubelet/ca.crt", "ca-kubelet", "ca.crt", 0o644),
    textFile("/var/lib/kubelet/config/kubelet", kubeletConfiguration(context, pool), 0o600),
    imageFile("/opt/bin/kubelet", hyperkube, "/kubelet"),
    ...(context.nodes === undefined ? [] : [textFile(`${HOST_SETTINGS}/00-shoot.conf`, noSettings, 0o644)]),
  ];
  const unit = {
    name: KUBELET_UNIT,
    command: "start",
    enable: true,
    content: unitText(command(context, pool), environmentFiles(context), connectionChecks(context)),
    filePaths: [...pathsOf(files), ROOT_CERTIFICATES],
  };
  return { files, units: [...dataVolume(pool), unit] };
}

/** Where a machine that was not made for the cluster says what is odd about it: files *.conf, which change the configuration. */
export const HOST_SETTINGS = "/etc/kubernetes/kubelet.conf.d";

/** A kubelet that is told of the folder refuses to begin without it. */
const noSettings = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";

/** Where a machine of a self-hosted Shoot says by which of its addresses the cluster is to reach it: this variable is the flag for it. */
export const KUBELET_NODE_ADDRESS = { file: "/var/lib/gardenadm/node-ip", variable: "KUBELET_NODE_IP" };

/** One flag for each label, so that a webhook finds them one by one. */
function command(context: ControlPlaneContext, pool: WorkerPool): string {
  const labels = Object.entries(nodeLabels(context, pool))
    .filter(([key]) => maySetItself(key))
    .map(([key, value]) => `--node-labels=${key}=${value}`);
  const words = [
    ...commandLine("/opt/bin/kubelet", {
      "bootstrap-kubeconfig": "/var/lib/kubelet/kubeconfig-bootstrap",
      config: "/var/lib/kubelet/config/kubelet",
      "config-dir": context.nodes && HOST_SETTINGS,
      kubeconfig: "/var/lib/kubelet/kubeconfig-real",
    }),
    ...labels.toSorted(),
    "--container-runtime-endpoint=unix:///run/containerd/containerd.sock",
    "--runtime-cgroups=/system.slice/containerd.service",
    "--v=2",
  ];
  const variables = [...(context.nodes === undefined ? [] : [KUBELET_NODE_ADDRESS.variable]), "KUBELET_EXTRA_ARGS"];
  return `${unitWords(words)} ${variables.map((name) => `$${name}`).join(" ")}`;
}

/**
 * After how many seconds without a word a kubelet asks its API server whether it is still there, and how long it waits: a
 * connection that has silently died is another one before the Node counts as lost.
 */
function connectionChecks({ shoot }: ControlPlaneContext): { readonly idle: number; readonly ping: number } {
  const grace = secondsOf(shoot.spec.kubernetes.kubeControllerManager?.nodeMonitorGracePeriod ?? "40s");
  if (grace >= 46) return { idle: 30, ping: 15 };
  const left = Math.max(grace - 2, 0);
  return { idle: Math.floor((left * 2) / 3), ping: Math.floor(left / 3) };
}

/** Those with a dash may be missing. Machines that operators bring need not have the first one. */
const environmentFiles = ({ nodes }: ControlPlaneContext): readonly string[] =>
  nodes === undefined
    ? ["/etc/environment", EXTRA_ARGS]
    : ["-/etc/environment", `-${KUBELET_NODE_ADDRESS.file}`, EXTRA_ARGS];

const EXTRA_ARGS = "-/var/lib/kubelet/extra_args";

const unitText = (
  execStart: string,
  environment: readonly string[],
  { idle, ping }: ReturnType<typeof connectionChecks>,
) => `[Unit]
Description=kubelet daemon
Documentation=https://kubernetes.io/docs/admin/kubelet
After=containerd.service

[Install]
WantedBy=multi-user.target

[Service]
Restart=always
RestartSec=5
Environment="HTTP2_READ_IDLE_TIMEOUT_SECONDS=${idle}" "HTTP2_PING_TIMEOUT_SECONDS=${ping}"
${environment.map((file) => `EnvironmentFile=${file}`).join("\n")}
ExecStart=${execStart}
`;

/** Mounts the disk for the kubelet's data, which the agent has formatted and named. */
const dataVolume = ({ kubeletDataVolumeName }: WorkerPool) =>
  kubeletDataVolumeName === undefined ? [] : [{ name: "var-lib-kubelet.mount", content: mountText }];

const mountText = `[Unit]
Description=The disk for the kubelet's data
Before=kubelet.service

[Mount]
What=/dev/disk/by-label/KUBEDEV
Where=/var/lib/kubelet
Type=ext4
Options=defaults,prjquota,errors=remount-ro

[Install]
WantedBy=local-fs.target
`;

/** A kubelet refuses to give itself labels of Kubernetes' own domains, but for a few. */
function maySetItself(label: string): boolean {
  const domain = label.split("/").length > 1 ? (label.split("/")[0] ?? "") : "";
  if (!/(^|\.)(kubernetes|k8s)\.io$/.test(domain)) return true;
  return /(^|\.)(kubelet|node)\.kubernetes\.io$/.test(domain) || itsOwn.has(label);
}

/** Labels of Kubernetes' own domains that a kubelet may set (k8s.io/kubelet, well-known labels). */
const itsOwn = new Set([
  "kubernetes.io/arch",
  "kubernetes.io/hostname",
  "kubernetes.io/os",
  "node.kubernetes.io/instance-type",
  "topology.kubernetes.io/region",
  "topology.kubernetes.io/zone",
]);
