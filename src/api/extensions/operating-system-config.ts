import { z } from "zod";
import { secretReference } from "../schema/references.ts";
import { immutable, json, openEnum, object, timestamp } from "../schema/fields.ts";
import { defaultSpec, defaultStatus } from "./defaults.ts";
import { defineExtension, minutes, seconds } from "./define-extension.ts";

/** What a machine is given may be as long as etcd takes it. */
const text = { maxLength: 1_048_576 };

const registryHost = object({
  url: z.string().describe("URL is the endpoint address of the registry mirror."),
  capabilities: z
    .array(openEnum("pull", "resolve", "push"))
    .optional()
    .describe("Capabilities determine what operations a host is capable of performing."),
  caCerts: z.array(z.string()).optional().describe("CACerts are paths to public key certificates used for TLS."),
  overridePath: z
    .boolean()
    .optional()
    .describe("OverridePath sets the 'override_path' field to allow defining the API endpoint in the URL."),
});

const registryConfig = object({
  upstream: z.string().describe("Upstream is the upstream name of the registry."),
  server: z.string().optional().describe("Server is the URL to registry server of this upstream."),
  hosts: z
    .array(registryHost)
    .optional()
    .describe(
      "Hosts are the registry hosts. It corresponds to the host fields in the 'hosts.toml' file, see https://github.com/containerd/containerd/blob/c51463010e0682f76dfdc10edc095e6596e2764b/docs/hosts.md#host-fields-in-the-toml-table-format for more information.",
    ),
  readinessProbe: z
    .boolean()
    .optional()
    .describe(
      "ReadinessProbe determines if host registry endpoints should be probed before they are added to the containerd config.",
    ),
});

const pluginConfig = object({
  op: openEnum("add", "remove").optional().describe("Op is the operation for the given path."),
  path: z.array(z.string()).describe("Path is a list of elements that construct the path in the plugins section."),
  values: json().optional().describe("Values are the values configured at the given path."),
});

const containerdConfig = object({
  registries: z.array(registryConfig).optional().describe("Registries configures the registry hosts for containerd."),
  sandboxImage: z.string().describe("SandboxImage configures the sandbox image for containerd."),
  plugins: z
    .array(pluginConfig)
    .optional()
    .describe("Plugins configures the plugins section in containerd's config.toml."),
});

const criConfig = object({
  name: z.string().meta(immutable()).describe("Name is a mandatory string containing the name of the CRI library."),
  cgroupDriver: z.string().optional().describe("CgroupDriver configures the CRI's cgroup driver."),
  containerd: containerdConfig.optional().describe("ContainerdConfig is the containerd configuration."),
});

const dropIn = object({
  name: z.string().describe("Name is the name of the drop-in."),
  content: z.string().meta(text).describe("Content is the content of the drop-in."),
});

const unit = object({
  name: z.string().describe("Name is the name of a unit."),
  command: openEnum("start", "restart", "stop").optional().describe("Command is the unit's command."),
  enable: z.boolean().optional().describe("Enable describes whether the unit is enabled or not."),
  content: z.string().meta(text).optional().describe("Content is the unit's content."),
  dropIns: z.array(dropIn).optional().describe("DropIns is a list of drop-ins for this unit."),
  filePaths: z.array(z.string()).optional().describe("FilePaths is a list of files the unit depends on."),
});

const fileContentSecretRef = object({
  name: z.string().describe("Name is the name of the secret."),
  dataKey: z.string().describe("DataKey is the key in the secret's '.data' field that should be read."),
});

const fileContentInline = object({
  encoding: z.string().describe("Encoding is the file's encoding (e.g. base64)."),
  data: z.string().meta(text).describe("Data is the file's data."),
});

const fileContentImageRef = object({
  image: z.string().describe("Image contains the container image repository with tag."),
  filePathInImage: z
    .string()
    .describe("FilePathInImage contains the path in the image to the file that should be extracted."),
});

const fileContent = object({
  secretRef: fileContentSecretRef
    .optional()
    .describe("SecretRef is a struct that contains information about the referenced secret."),
  inline: fileContentInline.optional().describe("Inline is a struct that contains information about the inlined data."),
  transmitUnencoded: z
    .boolean()
    .optional()
    .describe(
      "TransmitUnencoded set to true will ensure that the os-extension does not encode the file content when sent to the node.",
    ),
  imageRef: fileContentImageRef.optional().describe("ImageRef describes a container image which contains a file."),
});

const file = object({
  path: z.string().describe("Path is the path of the file system where the file should get written to."),
  permissions: z
    .int32()
    .optional()
    .describe("Permissions describes with which permissions the file should get written to the file system."),
  content: fileContent.describe("Content describe the file's content."),
  hostName: z.string().optional().describe("HostName contains the name of the host for host-specific configurations."),
});

const caRotation = object({
  lastInitiationTime: timestamp()
    .optional()
    .describe(
      "LastInitiationTime is the most recent time when the certificate authority credential rotation was initiated.",
    ),
});

const serviceAccountKeyRotation = object({
  lastInitiationTime: timestamp()
    .optional()
    .describe(
      "LastInitiationTime is the most recent time when the service account key credential rotation was initiated.",
    ),
});

const credentialsRotation = object({
  certificateAuthorities: caRotation
    .optional()
    .describe("CertificateAuthorities contains information about the certificate authority credential rotation."),
  serviceAccountKey: serviceAccountKeyRotation
    .optional()
    .describe("ServiceAccountKey contains information about the service account key credential rotation."),
});

const inPlaceUpdates = object({
  operatingSystemVersion: z.string().describe("OperatingSystemVersion is the version of the operating system."),
  kubelet: z.string().describe("KubeletVersion is the version of the kubelet."),
  credentialsRotation: credentialsRotation
    .optional()
    .describe(
      "CredentialsRotation is a structure containing information about the last initiation time of the certificate authority and service account key rotation.",
    ),
});

const operatingSystemConfigSpec = object({
  ...defaultSpec.shape,
  criConfig: criConfig.optional().describe("CRI config is a structure contains configurations of the CRI library"),
  purpose: openEnum("provision", "reconcile")
    .meta(immutable())
    .describe("Purpose describes how the result of this OperatingSystemConfig is used by Gardener."),
  units: z
    .array(unit)
    .optional()
    .describe("Units is a list of unit for the operating system configuration (usually, a systemd unit)."),
  files: z
    .array(file)
    .optional()
    .describe("Files is a list of files that should get written to the host's file system."),
  inPlaceUpdates: inPlaceUpdates.optional().describe("InPlaceUpdates contains the configuration for in-place updates."),
});

const cloudConfig = object({
  secretRef: secretReference.describe(
    "SecretRef is a reference to a secret that contains the actual result of the generated cloud config.",
  ),
});

const osUpdate = object({
  command: z.string().describe("Command defines the command responsible for performing machine image updates."),
  args: z
    .array(z.string())
    .optional()
    .describe("Args provides a mechanism to pass additional arguments or flags to the Command."),
});

const inPlaceUpdatesStatus = object({
  osUpdate: osUpdate.optional().describe("OSUpdate defines the configuration for the operating system update."),
});

const operatingSystemConfigStatus = object({
  ...defaultStatus.shape,
  extensionUnits: z
    .array(unit)
    .optional()
    .describe("ExtensionUnits is a list of additional systemd units provided by the extension."),
  extensionFiles: z
    .array(file)
    .optional()
    .describe("ExtensionFiles is a list of additional files provided by the extension."),
  cloudConfig: cloudConfig
    .optional()
    .describe(
      "CloudConfig is a structure for containing the generated output for the given operating system config spec.",
    ),
  inPlaceUpdates: inPlaceUpdatesStatus
    .optional()
    .describe("InPlaceUpdates contains the configuration for in-place updates."),
});

/** Files and units of a Shoot's machines, to be put into the form that their operating system reads. */
export const OperatingSystemConfig = defineExtension({
  kind: "OperatingSystemConfig",
  plural: "operatingsystemconfigs",
  shortNames: ["osc"],
  scope: "Namespaced",
  description: "Files and units of a Shoot's machines, to be put into the form that their operating system reads.",
  content: { spec: operatingSystemConfigSpec, status: operatingSystemConfigStatus.optional() },
  columns: [
    { name: "Type", path: ".spec.type" },
    { name: "Purpose", path: ".spec.purpose" },
    { name: "Status", path: ".status.lastOperation.state" },
  ],
  contract: {
    writer: "flow",
    stateful: true,
    cluster: "always",
    admission: "workers",
    types: ({ shoot }) => (shoot.spec.provider.workers ?? []).flatMap(({ machine }) => machine.image?.name ?? []),
    severeAfter: seconds(30),
    deadline: minutes(3),
    trigger: "always",
  },
});

/** Files and units of a Shoot's machines, to be put into the form that their operating system reads. */
export type OperatingSystemConfig = z.infer<typeof OperatingSystemConfig.schema>;
