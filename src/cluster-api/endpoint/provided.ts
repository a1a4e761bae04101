import {
  apiGroupOf,
  CLUSTER_NAME_LABEL,
  ClusterEndpoint,
  type Cluster,
  type ControlPlaneEndpoint,
} from "../../api/cluster-api/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { inWords, refOf, typeMeta, type EventRecorder, type KubeClient } from "../../kube/index.ts";
import { covers } from "../objects/covers.ts";
import { COMPOSER } from "../objects/field-managers.ts";
import { isRefusal, type Obstacle } from "../objects/obstacle.ts";
import { endpointEditor } from "./endpoint-writer.ts";
import { renderEndpoint } from "./value.ts";

/** What endpoints are provided with. */
export interface Providing {
  readonly management: KubeClient;
  readonly events: Pick<EventRecorder, "record">;
}

/** Whose endpoint it is, and what is there of it. */
export interface ProvidedEndpoint {
  readonly cluster: Cluster;
  /** The provider's object, which becomes the controller of the endpoint. */
  readonly owner: KubeObject;
  readonly name: string;
  readonly present: ClusterEndpoint | undefined;
}

/**
 * Makes an endpoint known as a ClusterEndpoint that its provider owns (the proposal of flexible endpoints). Nothing is written where
 * it says so. Another's object of that name stays as it is: then the answer says so, as it does where the API server refuses the
 * endpoint, such as a host with an underscore. Of one that others have edited, an Event names the field manager.
 */
export async function provideEndpoint(
  providing: Providing,
  provided: ProvidedEndpoint,
  endpoint: ControlPlaneEndpoint,
): Promise<Obstacle | undefined> {
  try {
    return await writeEndpoint(providing, provided, endpoint);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { reason: "EndpointRefused", message: error.message };
  }
}

async function writeEndpoint(
  { management, events }: Providing,
  { cluster, owner, name, present }: ProvidedEndpoint,
  { host, port }: ControlPlaneEndpoint,
): Promise<Obstacle | undefined> {
  const { apiVersion, kind, metadata } = owner;
  const labels = { [CLUSTER_NAME_LABEL]: cluster.metadata.name };
  const ownerReferences = [{ apiVersion, kind, name: metadata.name, uid: metadata.uid ?? "", controller: true }];
  const spec = { cluster: cluster.metadata.name, host, port, type: "ExternalControlPlaneEndpoint" } as const;
  const { namespace } = cluster.metadata;
  const wanted = { ...typeMeta(ClusterEndpoint), metadata: { name, namespace, labels, ownerReferences }, spec };
  if (present === undefined) return void (await management.create<ClusterEndpoint>(wanted, { fieldManager: COMPOSER }));
  if (!isProvidedBy(present, owner)) return describeTaken(present);
  if (covers(present.spec, spec) && covers(present.metadata, { labels, ownerReferences })) return undefined;
  // Only of the object as it is now, with who wrote it: of another one in its place nothing is changed.
  const found = await management.read(refOf(present));
  if (found === undefined || found.metadata.uid !== present.metadata.uid) return undefined; // the watch brings it
  const { uid, resourceVersion } = found.metadata;
  const patched = { metadata: { uid, resourceVersion, labels, ownerReferences }, spec };
  await management.patch(refOf(found), patched, { fieldManager: COMPOSER });
  tellEdit(events, found, owner, { host, port });
  return undefined;
}

function tellEdit(
  events: Providing["events"],
  found: ClusterEndpoint,
  owner: KubeObject,
  wanted: ControlPlaneEndpoint,
): void {
  const editor = endpointEditor(found, wanted);
  if (editor === undefined) return;
  const edit = `field manager ${editor} had changed it to ${renderEndpoint(found.spec)}`;
  const note = `${edit}: put back what ${inWords(refOf(owner))} says, ${renderEndpoint(wanted)}; for another endpoint make a ClusterEndpoint of your own`;
  events.record({ regarding: found, type: "Warning", reason: "EndpointPutRight", action: "Provide", note });
}

/** Whether a provider's object of that name controls the endpoint; its uid changes when `clusterctl move` makes it anew. */
export const isProvidedBy = ({ metadata }: ClusterEndpoint, owner: KubeObject): boolean =>
  metadata.ownerReferences?.some(
    (one) =>
      apiGroupOf(one) === apiGroupOf(owner) &&
      one.kind === owner.kind &&
      one.name === owner.metadata.name &&
      one.controller === true,
  ) ?? false;

const describeTaken = ({ metadata }: ClusterEndpoint): Obstacle => ({
  reason: "NameTaken",
  message: `ClusterEndpoint ${metadata.name} is no object of this provider: delete it, or give it another name`,
});
