import { parse, stringify } from "yaml";
import type { OperatingSystemConfig } from "../api/index.ts";
import { ExtensionError } from "../extension/index.ts";

const CONFIG_PATH = "/var/lib/kubelet/config/kubelet";

/** What a kubelet needs in a machine that is a set of namespaces; the machine fills in the placeholders. */
const settings = {
  cgroupDriver: "cgroupfs",
  cgroupRoot: "${MACHINE_CGROUP}",
  failSwapOn: false,
  failCgroupV1: false,
  providerID: "${MACHINE_PROVIDER_ID}",
  resolvConf: "/etc/resolv.conf",
  containerRuntimeEndpoint: "unix:///run/containerd/containerd.sock",
  // Our images come from no registry: what the kubelet removes for want of space is gone for good.
  imageGCHighThresholdPercent: 100,
  evictionHard: {
    "memory.available": "50Mi",
    "nodefs.available": "1%",
    "imagefs.available": "1%",
    "nodefs.inodesFree": "1%",
  },
};

/** The files and units that take the place of the spec's on local machines: the kubelet's configuration and flags. */
export function kubeletOverrides({ spec, metadata }: OperatingSystemConfig) {
  const file = spec.files?.find(({ path }) => path === CONFIG_PATH);
  const unit = spec.units?.find(({ name }) => name === "kubelet.service");
  if (file?.content.inline === undefined || unit?.content === undefined) {
    const what = `OperatingSystemConfig ${metadata.namespace}/${metadata.name}`;
    throw new ExtensionError(`${what} has no inline file ${CONFIG_PATH} or no unit kubelet.service`, [
      "ERR_CONFIGURATION_PROBLEM",
    ]);
  }
  const { encoding, data } = file.content.inline;
  const text = encoding === "" ? data : Buffer.from(data, "base64").toString();
  const merged = stringify({ ...(parse(text) as object), ...settings }, { version: "1.1", lineWidth: 0 });
  return {
    extensionFiles: [{ ...file, content: { inline: { encoding: "", data: merged } } }],
    extensionUnits: [{ name: unit.name, content: withMachineFlags(unit.content) }],
  };
}

/** The command line may go on over several lines; the flags follow the binary's name. */
function withMachineFlags(content: string): string {
  return content.replace(/^(ExecStart=\S+)/m, "$1 --node-ip=${MACHINE_ADDRESS} --hostname-override=${MACHINE_NAME}");
}
