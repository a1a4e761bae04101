/** What a machine is told to be at its first boot: the local OS image's cloud-config, as JSON. */
export interface UserData {
  readonly files: readonly UserDataFile[];
  readonly units: readonly UserDataUnit[];
}

/** A file with an absolute path; its parents are made. */
export type UserDataFile = ContentFile | ProgramFile;

/** A file with content of its own. */
export interface ContentFile {
  readonly path: string;
  /** 0o644 unless told otherwise. */
  readonly permissions?: number;
  readonly content: string;
  /** `content` is plain text unless it is told to be base64. */
  readonly encoding?: "b64";
}

/** A program that the machine's image has, and that is to be found at another path, too. */
export interface ProgramFile {
  readonly path: string;
  readonly program: string;
}

/** A systemd unit of which a machine understands a part (see unit.ts). */
export interface UserDataUnit {
  /** Such as `kubelet.service`. */
  readonly name: string;
  /** The unit file's text; without it the command is for a unit that is there already. */
  readonly content?: string;
  /** A unit that runs as it should is left alone, also by "restart". Started unless told otherwise. */
  readonly command?: "start" | "restart" | "stop";
  readonly enable?: boolean;
  /** Files whose change restarts the unit. */
  readonly filePaths?: readonly string[];
}

/** What a machine puts in place of `${MACHINE_…}` in files and units. */
export interface MachineFacts {
  readonly name: string;
  readonly address: string;
  readonly gateway: string;
  readonly providerID: string;
  readonly cgroup: string;
}

/** The text with `${MACHINE_NAME}`, `_ADDRESS`, `_GATEWAY`, `_PROVIDER_ID` and `_CGROUP` replaced, and nothing else. */
export function fillIn(text: string, facts: MachineFacts): string {
  return text
    .replaceAll("${MACHINE_NAME}", facts.name)
    .replaceAll("${MACHINE_ADDRESS}", facts.address)
    .replaceAll("${MACHINE_GATEWAY}", facts.gateway)
    .replaceAll("${MACHINE_PROVIDER_ID}", facts.providerID)
    .replaceAll("${MACHINE_CGROUP}", facts.cgroup);
}

/** The bytes of a file; those that are no UTF-8 text are left as they are. */
export function fileContent(file: ContentFile, facts: MachineFacts): Buffer {
  const bytes = Buffer.from(file.content, file.encoding === "b64" ? "base64" : "utf8");
  const text = bytes.toString("utf8");
  return Buffer.from(text, "utf8").equals(bytes) ? Buffer.from(fillIn(text, facts), "utf8") : bytes;
}
