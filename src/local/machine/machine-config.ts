import type { OperatingSystemConfig } from "../../api/index.ts";
import { filesFor, inlineBytes, unitsOf } from "../../node-agent/wanted.ts";
import type { UserData, UserDataFile, UserDataUnit } from "./user-data.ts";

/** What of an OperatingSystemConfig is a machine's business, with the contents of Secrets filled in. */
export type MachineConfig = Pick<OperatingSystemConfig, "spec" | "status">;

type Unit = NonNullable<OperatingSystemConfig["spec"]["units"]>[number];
type File = NonNullable<OperatingSystemConfig["spec"]["files"]>[number];

/**
 * An OperatingSystemConfig as a machine of this host follows it: what its controller has added goes with the rest as in
 * upstream's agent, and what the machine's image does in a way of its own is left out. Throws for what it cannot do.
 */
export function toUserData(config: MachineConfig, hostName?: string): UserData {
  const files = filesFor(config, hostName).filter(({ path }) => path !== agentProgram);
  const units = unitsOf(config).filter(({ name }) => isRunHere(name));
  return {
    files: files.map(readFile),
    units: units.map(readUnit).filter(({ content, command }) => content ?? command === "stop"),
  };
}

/**
 * Units that are not run as they are written: the runner is the agent itself, has started containerd before, and asks no
 * registry. Kernel settings, authorities, logins, logs and disks are the host's, which all its machines share.
 */
const ownWays = new Set([
  "containerd.service",
  "containerd-logrotate.service",
  "gardener-node-agent.service",
  "gardener-node-init.service",
  "gardener-user.service",
  "sshd-ensurer.service",
  "systemd-sysctl.service",
  "updatecacerts.service",
]);

const isRunHere = (name: string): boolean => name.endsWith(".service") && !ownWays.has(name);

const agentProgram = "/opt/bin/gardener-node-agent";

/** Drop-ins follow the text, where they mean what they mean to systemd. */
function readUnit({ name, content, command, enable, dropIns = [], filePaths }: Unit): UserDataUnit {
  return {
    name,
    ...(content === undefined ? {} : { content: [content, ...dropIns.map((dropIn) => dropIn.content)].join("\n") }),
    ...(command === undefined ? {} : { command }),
    ...(enable === undefined ? {} : { enable }),
    ...(filePaths === undefined ? {} : { filePaths }),
  };
}

function readFile({ path, permissions, content }: File): UserDataFile {
  if (content.imageRef !== undefined) return { path, program: programOf(path, content.imageRef) };
  if (content.inline === undefined) throw new Error(`cannot write file ${path}: it has no content`);
  const readable = readableContent(inlineBytes(path, content.inline));
  return { path, ...(permissions === undefined ? {} : { permissions }), ...readable };
}

/** Text as text, so that people can read it; anything else as base64. */
function readableContent(bytes: Buffer): { content: string; encoding?: "b64" } {
  const text = bytes.toString("utf8");
  if (Buffer.from(text, "utf8").equals(bytes)) return { content: text };
  return { content: bytes.toString("base64"), encoding: "b64" };
}

/** The machine's image has Kubernetes' programs in every version that the host has. */
function programOf(path: string, { image, filePathInImage }: { image: string; filePathInImage: string }): string {
  const [, version] = /\/hyperkube:v([\w.+-]+)(?:@.*)?$/.exec(image) ?? [];
  const [, program] = /^\/(kubelet|kubectl)$/.exec(filePathInImage) ?? [];
  if (version !== undefined && program !== undefined) return `/opt/kubernetes/${version}/${program}`;
  throw new Error(
    `cannot write file ${path}: machines here have no registry to get ${filePathInImage} of ${image} from`,
  );
}
