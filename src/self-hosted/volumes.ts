import type { File } from "../components/index.ts";
import type { Container, FilesOf, ProjectedSource, Template, Volume } from "./pod.ts";
import type { Refuse } from "./refusal.ts";
import type { Content, Data, Lookup } from "./sources.ts";

/** Where the files of static pods are: a folder for each pod, in it one for each volume. */
export const STATIC_POD_FILES = "/var/lib/static-pods";

/** Volumes that need no API server, and the files below {@link STATIC_POD_FILES} that stand for those which do. */
export interface HostVolumes {
  readonly volumes: readonly Volume[];
  readonly files: readonly File[];
}

/**
 * Puts files of the host in the place of Secrets, ConfigMaps and what is projected of them, and the folder
 * `/var/lib/<pod>/data` in the place of a claim. Refuses each other sort of volume that needs an API server.
 */
export function hostVolumes(pod: string, template: Template, lookup: Lookup, refuse: Refuse): HostVolumes {
  const { claims } = template;
  if (claims.length > 1)
    refuse("spec.volumeClaimTemplates", `has ${claims.length} entries`, `keep one: it becomes /var/lib/${pod}/data`);
  const others = (template.spec.volumes ?? []).filter(({ name }) => !claims.includes(name));
  const made = others.map((volume) => hostVolume(pod, volume, lookup, refuse));
  const claimed = claims.map((name) => folder(name, `/var/lib/${pod}/data`, "DirectoryOrCreate"));
  return {
    volumes: [...claimed, ...made.map(({ volume }) => volume)],
    files: made.flatMap(({ files }) => files),
  };
}

/** The container with those mounts read-only whose volume has files in it: what Kubernetes does for Secrets. */
export function readOnlyFiles(container: Container, files: readonly File[], pod: string): Container {
  const { volumeMounts } = container;
  if (volumeMounts === undefined) return container;
  const hasFiles = (volume: string) => files.some(({ path }) => path.startsWith(`${volumeFolder(pod, volume)}/`));
  return {
    ...container,
    volumeMounts: volumeMounts.map((mount) => (hasFiles(mount.name) ? { ...mount, readOnly: true } : mount)),
  };
}

const SELF_SUFFICIENT = ["downwardAPI", "emptyDir", "hostPath", "image"];

function hostVolume(pod: string, volume: Volume, lookup: Lookup, refuse: Refuse) {
  const { name } = volume;
  const field = `volume ${name}`;
  const sources = sourcesOf(volume, refuse);
  if (sources === undefined) {
    const sort = Object.keys(volume).find((key) => key !== "name") ?? "emptyDir";
    if (!SELF_SUFFICIENT.includes(sort))
      refuse(field, `is of sort ${sort}, which needs an API server`, `use ${SELF_SUFFICIENT.join(", ")} or a file`);
    return { volume, files: [] };
  }
  const files = sources.flatMap((source) => {
    const content = lookup(source.kind, source, field);
    return content === undefined ? [] : filesOf(source, content, { directory: volumeFolder(pod, name), field, refuse });
  });
  const twice = files.find(({ path, hostName }, index) =>
    files.slice(0, index).some((other) => other.path === path && other.hostName === hostName),
  );
  if (twice !== undefined) refuse(field, `has ${twice.path} twice`, "give each source paths of its own");
  if (files.length === 0) return { volume: { name, emptyDir: {} }, files };
  return { volume: folder(name, volumeFolder(pod, name), "Directory"), files };
}

interface Source extends FilesOf {
  readonly kind: "Secret" | "ConfigMap";
  readonly name: string;
}

/** The objects of which a volume shows files; `undefined` for other sorts of volumes. */
function sourcesOf({ name: volume, secret, configMap, projected }: Volume, refuse: Refuse): Source[] | undefined {
  if (secret !== undefined) return [{ ...secret, kind: "Secret", name: secret.secretName }];
  if (configMap !== undefined) return [{ ...configMap, kind: "ConfigMap" }];
  return projected?.sources?.map((source) => ({
    ...projectedSource(source, volume, refuse),
    ...(projected.defaultMode === undefined ? {} : { defaultMode: projected.defaultMode }),
  }));
}

function projectedSource(source: ProjectedSource, volume: string, refuse: Refuse): Source {
  if (source.secret !== undefined) return { ...source.secret, kind: "Secret" };
  if (source.configMap !== undefined) return { ...source.configMap, kind: "ConfigMap" };
  const [sort = "nothing"] = Object.keys(source);
  const remedy =
    sort === "serviceAccountToken"
      ? "a static pod has no ServiceAccount: give it a kubeconfig in a Secret"
      : "project Secrets and ConfigMaps only, and give the rest a volume of its own";
  return refuse(`volume ${volume}`, `projects ${sort}`, remedy);
}

interface Target {
  readonly directory: string;
  readonly field: string;
  readonly refuse: Refuse;
}

function filesOf(source: Source, content: Content, { directory, field, refuse }: Target): File[] {
  return eachOf(content).flatMap(({ data, ...node }) =>
    entriesOf(source, data, field, refuse).map(({ key, path, mode }) => {
      if (!staysInside(path)) refuse(field, `has a file ${JSON.stringify(path)}`, "name a path inside of the volume");
      return {
        path: `${directory}/${path}`,
        permissions: forRootAndGroup(mode ?? source.defaultMode ?? 0o644),
        content: { inline: { encoding: "b64", data: data[key] ?? "" } },
        ...node,
      };
    }),
  );
}

const eachOf = (content: Content) => (content.of === "all" ? [{ data: content.data }] : content.nodes);

function entriesOf({ kind, name, items, optional }: Source, data: Data, field: string, refuse: Refuse) {
  if (items === undefined)
    return Object.keys(data)
      .toSorted()
      .map((key) => ({ key, path: key, mode: undefined }));
  return items.flatMap(({ key, path, mode }) => {
    if (data[key] !== undefined) return [{ key, path, mode }];
    if (optional === true) return [];
    return refuse(field, `names key ${key} of ${kind} ${name}, which has no such key`, "add it");
  });
}

/** As Kubernetes' own rule for `items[].path`: relative, and no way up. */
function staysInside(path: string): boolean {
  return path !== "" && !path.startsWith("/") && path.split("/").every((part) => !["", ".", ".."].includes(part));
}

/**
 * The files are root's and its group's, of which each static pod is a member, and no other user's. A program stays one.
 */
const forRootAndGroup = (mode: number): number => 0o640 | (mode & 0o110);

const volumeFolder = (pod: string, volume: string): string => `${STATIC_POD_FILES}/${pod}/${volume}`;

const folder = (name: string, path: string, type: "Directory" | "DirectoryOrCreate"): Volume => ({
  name,
  hostPath: { path, type },
});
