import type { EventRecorder, KubeClient } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import type { ProviderReader } from "./provider-objects.ts";

/** What the parts of the endpoint controller work with. */
export interface EndpointWork {
  /** The management cluster. */
  readonly client: KubeClient;
  readonly providers: ProviderReader;
  readonly events: Pick<EventRecorder, "record">;
  readonly log: Logger;
}
