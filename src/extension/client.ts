import * as kube from "../kube/index.ts";

/** The door to the cluster that the controller works in. Its writes are made as field manager `extension` unless told otherwise. */
export function createKubeClient(
  source: kube.ClusterSource,
  { fieldManager = "extension", ...o }: kube.KubeClientOptions = {},
): kube.KubeClient {
  return kube.createKubeClient(source, { ...o, fieldManager });
}
