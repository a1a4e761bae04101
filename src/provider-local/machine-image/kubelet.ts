import type { OperatingSystemConfig } from "../../api/index.ts";
import { parseYaml } from "../../parsing.ts";
import { renderYaml } from "../../yaml.ts";

type Spec = OperatingSystemConfig["spec"];
type Status = NonNullable<OperatingSystemConfig["status"]>;

/** What an operating system adds to, or replaces in, the configuration of running machines. */
export type Additions = {
  readonly extensionFiles: NonNullable<Status["extensionFiles"]>;
  readonly extensionUnits: NonNullable<Status["extensionUnits"]>;
};

/** What the local operating system changes of the configuration that a machine's agent applies: its kubelet only. */
export function adaptKubelet({ files = [], units = [] }: Spec): Additions {
  return {
    extensionFiles: files.filter(({ path }) => path === kubeletConfigPath).map(adaptConfig),
    extensionUnits: units.filter(({ name }) => name === "kubelet.service").map(adaptUnit),
  };
}

const kubeletConfigPath = "/var/lib/kubelet/config/kubelet";

/** The settings of a kubelet in a machine that is a namespace of its host; the machine fills in `${MACHINE_…}`. */
const needs = {
  cgroupDriver: "cgroupfs",
  cgroupRoot: "${MACHINE_CGROUP}",
  cgroupsPerQOS: true,
  failSwapOn: false,
  failCgroupV1: false,
  containerRuntimeEndpoint: "unix:///run/containerd/containerd.sock",
  providerID: "${MACHINE_PROVIDER_ID}",
  resolvConf: "/etc/resolv.conf",
  // A full disk of the host must not make a kubelet delete images that it can't pull again, nor evict pods.
  imageGCHighThresholdPercent: 100,
  evictionHard: {
    "memory.available": "50Mi",
    "nodefs.available": "1%",
    "imagefs.available": "1%",
    "nodefs.inodesFree": "1%",
  },
  evictionSoft: {},
  evictionSoftGracePeriod: {},
  evictionMinimumReclaim: {},
};

function adaptConfig({ path, permissions, content }: NonNullable<Spec["files"]>[number]) {
  const { encoding = "", data = "" } = content.inline ?? {};
  const text = encoding === "" ? data : Buffer.from(data, "base64").toString("utf8");
  const config = parseYaml(text, path) as Record<string, unknown>;
  const inline = { encoding: "", data: renderYaml({ ...config, ...needs }) };
  return { path, ...(permissions === undefined ? {} : { permissions }), content: { inline } };
}

/** Flags go to the end of ExecStart, which may go over several lines. No systemd has given containerd a cgroup here. */
function adaptUnit({ name, content = "" }: NonNullable<Spec["units"]>[number]) {
  const flags = "--node-ip=${MACHINE_ADDRESS} --hostname-override=${MACHINE_NAME} --runtime-cgroups=";
  return { name, content: content.replace(/^ExecStart=(?:.*\\\n)*.*$/m, (command) => `${command} \\\n    ${flags}`) };
}
