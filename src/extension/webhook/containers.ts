import type { Container, ControlPlaneWorkload, EnvironmentVariable, PodSpec, Volume, VolumeMount } from "./objects.ts";

/** The workload with this container changed. Throws when it has no such container: then the contract is broken. */
export function withContainer(
  workload: ControlPlaneWorkload,
  name: string,
  change: (container: Container) => Container,
): ControlPlaneWorkload {
  const { containers } = workload.spec.template.spec;
  if (!containers.some((container) => container.name === name))
    throw new Error(`cannot change container ${name} of ${workload.kind} ${workload.metadata.name}: there is none`);
  return withPod(workload, (pod) => ({
    ...pod,
    containers: pod.containers.map((container) => (container.name === name ? change(container) : container)),
  }));
}

/** The workload with a container beside the others; one of the same name is replaced. */
export const withSidecar = (workload: ControlPlaneWorkload, container: Container): ControlPlaneWorkload =>
  withPod(workload, (pod) => ({ ...pod, containers: put(pod.containers, container) }));

/** The workload with a volume; one of the same name is replaced. */
export const withVolume = (workload: ControlPlaneWorkload, volume: Volume): ControlPlaneWorkload =>
  withPod(workload, (pod) => ({ ...pod, volumes: put(pod.volumes ?? [], volume) }));

/** The container with a variable in its environment; one of the same name is replaced. */
export const withEnvironment = (container: Container, variable: EnvironmentVariable): Container => ({
  ...container,
  env: put(container.env ?? [], variable),
});

/** The container with a volume mounted; another mount at the same path is replaced. */
export const withMount = (container: Container, mount: VolumeMount): Container => ({
  ...container,
  volumeMounts: put(container.volumeMounts ?? [], mount, ({ mountPath }) => mountPath),
});

/** The StatefulSet with other fields in the claim of its volume. It takes effect where the set is made; claims cannot change later. */
export function withVolumeClaim(
  workload: ControlPlaneWorkload,
  name: string,
  spec: Readonly<Record<string, unknown>>,
): ControlPlaneWorkload {
  const { volumeClaimTemplates = [] } = workload.spec;
  if (!volumeClaimTemplates.some(({ metadata }) => metadata?.name === name))
    throw new Error(`cannot change claim ${name} of ${workload.kind} ${workload.metadata.name}: there is none`);
  const changed = volumeClaimTemplates.map((claim) =>
    claim.metadata?.name === name ? { ...claim, spec: { ...claim.spec, ...spec } } : claim,
  );
  return { ...workload, spec: { ...workload.spec, volumeClaimTemplates: changed } };
}

function withPod(workload: ControlPlaneWorkload, change: (pod: PodSpec) => PodSpec): ControlPlaneWorkload {
  const { spec } = workload;
  return { ...workload, spec: { ...spec, template: { ...spec.template, spec: change(spec.template.spec) } } };
}

/** In the place of the one with the same key, or at the end: asking twice gives the same. */
function put<T extends { readonly name: string }>(
  list: readonly T[],
  item: T,
  keyOf: (one: T) => string = ({ name }) => name,
): readonly T[] {
  const known = list.some((one) => keyOf(one) === keyOf(item));
  return known ? list.map((one) => (keyOf(one) === keyOf(item) ? item : one)) : [...list, item];
}
