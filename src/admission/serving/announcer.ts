import type { KubeObject } from "../../api/index.ts";
import { createReflector, type KubeClient } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";

/** Tells API servers of webhooks, and hears when another client changes or deletes what it has told. */
export interface Announcer {
  /** Resolves when all of these objects are as they are given. */
  announce(configurations: readonly KubeObject[]): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

/** An announcer of configurations with these kinds and names; it may hear of a write of its own, and then nothing has to change. */
export function createAnnouncer(
  client: KubeClient,
  configurations: readonly KubeObject[],
  { log, onChange }: { readonly log: Logger; onChange(): void },
): Announcer {
  const written = new Map<string, string | undefined>();
  const watches = configurations.map(({ apiVersion, kind, metadata: { name } }) =>
    createReflector(
      client,
      { apiVersion, kind, scope: "Cluster" },
      {
        ...{ log, fieldSelector: `metadata.name=${name}` },
        onEvent({ type, object }) {
          if (type === "deleted" || written.get(idOf(object)) !== object.metadata.resourceVersion) onChange();
        },
      },
    ),
  );
  return {
    async announce(wanted) {
      for (const one of wanted) written.set(idOf(one), (await client.apply(one)).metadata.resourceVersion);
    },
    start: () => watches.forEach((one) => one.start()),
    stop: async () => void (await Promise.all(watches.map((one) => one.stop()))),
  };
}

const idOf = ({ kind, metadata: { name } }: KubeObject): string => `${kind}/${name}`;
