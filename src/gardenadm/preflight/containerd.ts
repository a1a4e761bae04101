import { answerOf } from "./answer.ts";
import type { Candidate, Findings } from "./candidate.ts";
import { containerdWarnings } from "./containerd-warnings.ts";
import { hostSettings } from "./host-settings.ts";
import { isReadable, textOf } from "./readable.ts";

type Asked = Pick<Candidate, "root" | "systemctl" | "ctr">;

/** Why a kubelet could not run pods by the containerd of this machine, and what will be felt when it does. */
export async function containerdFindings({ root, systemctl, ctr }: Asked): Promise<Findings> {
  if (!(await isReadable(root, "/run/containerd/containerd.sock")))
    await systemctl(["start", "containerd.service"], AbortSignal.timeout(10_000)).catch(() => "");
  const what = "containerd does not answer; install it with ctr, and start it with 'systemctl start containerd'";
  const { text, faults } = await answerOf(ctr, ["version"], what);
  if (faults.length > 0) return { faults, warnings: [] };
  const configuration = (await textOf(root, FILE)).replaceAll(/^\s*#.*$/gm, "");
  const { cgroupDriver = "systemd" } = await hostSettings(root);
  const version = versionIn(text);
  return {
    faults: [...(version ? versionFaults(version) : []), ...configurationFaults(configuration, cgroupDriver)],
    warnings: await containerdWarnings({ major: version?.major, configuration, ctr }, cgroupDriver),
  };
}

/** The first with the CRI that kubelets speak. */
const OLDEST = [1, 6] as const;

/** The server's: that of `ctr` itself says nothing. */
function versionIn(text: string): Version | undefined {
  const [, called = "", major, minor] = /^Server:\s+Version:\s*v?((\d+)\.(\d+)\S*)/m.exec(text) ?? [];
  return major === undefined ? undefined : { called, major: Number(major), minor: Number(minor) };
}

interface Version {
  readonly called: string;
  readonly major: number;
  readonly minor: number;
}

function versionFaults({ called, major, minor }: Version): string[] {
  const isEnough = major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
  return isEnough ? [] : [`containerd is ${called}, too old for kubelets: install ${OLDEST.join(".")} or newer`];
}

const FILE = "/etc/containerd/config.toml";

function configurationFaults(text: string, cgroupDriver: string): string[] {
  const restart = "and run 'systemctl restart containerd'";
  const faults: string[] = [];
  const [, disabled = ""] = /^\s*disabled_plugins\s*=\s*\[([^\]]*)\]/m.exec(text) ?? [];
  const [plugin] = /["'](cri|io\.containerd\.(grpc\.v1\.cri|cri\.v1\.(runtime|images)))["']/.exec(disabled) ?? [];
  if (plugin !== undefined)
    faults.push(
      `${FILE} disables the plugin that kubelets speak to: take ${plugin} out of disabled_plugins, ${restart}`,
    );
  // Each runtime has a line of its own, and one of them is that of the pods: only where all differ, it surely does.
  const said = [...text.matchAll(/^\s*SystemdCgroup\s*=\s*(true|false)/gm)].map(([, value = ""]) => value);
  const wanted = String(cgroupDriver === "systemd");
  if (said.length > 0 && !said.includes(wanted))
    faults.push(
      `${FILE} has SystemdCgroup = ${said[0] ?? ""}, and the kubelet's cgroup driver is ${cgroupDriver}: write ${wanted} there, ${restart}`,
    );
  return faults;
}
