import type { ControlPlaneContext, WorkerPool } from "../context.ts";
import { textFile, type Part } from "./file.ts";

const path = "/etc/sysctl.d/99-k8s-general.conf";

/** Kernel settings of a machine: Gardener's, what a kubelet insists on that may not change them, and the pool's own. */
export function kernelSettings({ shoot }: ControlPlaneContext, pool: WorkerPool): Part {
  const kubelet = pool.kubernetes?.kubelet ?? shoot.spec.kubernetes.kubelet;
  const settings = {
    ...general,
    ...(shoot.spec.kubernetes.kubeProxy?.enabled === false ? withoutKubeProxy : {}),
    ...((kubelet?.protectKernelDefaults ?? true) ? wantedByKubelet : {}),
    ...pool.sysctls,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
  return {
    files: [textFile(path, lines.toSorted().join(""), 0o644)],
    // It has run before the file was there.
    units: [{ name: "systemd-sysctl.service", command: "restart", enable: true, filePaths: [path] }],
  };
}

const general = {
  "fs.aio-max-nr": 262_144,
  "fs.file-max": 20_000_000,
  "fs.inotify.max_user_instances": 8192,
  "fs.inotify.max_user_watches": 524_288,
  "kernel.softlockup_all_cpu_backtrace": 1,
  "kernel.softlockup_panic": 1,
  "net.core.netdev_max_backlog": 16_384,
  "net.core.rmem_max": 16_777_216,
  "net.core.somaxconn": 32_768,
  "net.core.wmem_max": 16_777_216,
  "net.ipv4.conf.all.forwarding": 1,
  "net.ipv4.conf.default.forwarding": 1,
  "net.ipv4.conf.default.log_martians": 1,
  "net.ipv4.ip_local_port_range": "32768 65535",
  "net.ipv4.tcp_max_syn_backlog": 8096,
  "net.ipv4.tcp_retries2": 8,
  "net.ipv4.tcp_rmem": "4096 12582912 16777216",
  "net.ipv4.tcp_slow_start_after_idle": 0,
  "net.ipv4.tcp_tw_reuse": 1,
  "net.ipv4.tcp_wmem": "4096 12582912 16777216",
  "net.ipv6.conf.all.forwarding": 1,
  "net.ipv6.conf.default.forwarding": 1,
  "vm.max_map_count": 135_217_728,
  "vm.memory_failure_early_kill": 1,
};

/** kube-proxy sets it itself. */
const withoutKubeProxy = { "net.netfilter.nf_conntrack_max": 1_048_576 };

/** With `protectKernelDefaults`, a kubelet does not start unless it finds these (Kubernetes, node/util/sysctl). */
const wantedByKubelet = {
  "kernel.keys.root_maxbytes": 25_000_000,
  "kernel.keys.root_maxkeys": 1_000_000,
  "kernel.panic": 10,
  "kernel.panic_on_oops": 1,
  "vm.overcommit_memory": 1,
  "vm.panic_on_oom": 0,
};
