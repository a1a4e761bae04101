import { createKubeClient, createReflector, Node, type KubeClient, type Reflector } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";

/** The API servers of Shoots, by a name for each; a new kubeconfig replaces the connection. */
export interface ApiServers {
  /** The version that the API server runs, with a leading v; undefined while it does not answer that it is ready. */
  ask(name: string, kubeconfig: string): Promise<string | undefined>;
  /** The Nodes, by a watch that begins with the first call; undefined while the watch is broken or has not begun. */
  nodes(name: string, kubeconfig: string): readonly Node[] | undefined;
  /** Ends the connection and the watch. */
  forget(name: string): void;
  stop(): Promise<void>;
}

/** Connections to Shoots; `onNodes` is called with a name whose Nodes have changed. */
export function createApiServers(log: Logger, onNodes: (name: string) => void): ApiServers {
  const connections = new Map<string, Connection>();
  const ending = new Set<Promise<void>>();

  const forget = (name: string) => {
    const connection = connections.get(name);
    connections.delete(name);
    if (connection === undefined) return;
    const end = close(connection)
      .catch((error: unknown) => log.warn({ cluster: name, err: error }, "cannot end a connection to a Shoot"))
      .finally(() => ending.delete(end));
    ending.add(end);
  };

  const connect = (name: string, kubeconfig: string): Connection => {
    const known = connections.get(name);
    if (known?.kubeconfig === kubeconfig) return known;
    forget(name);
    const connection: Connection = { kubeconfig, client: createKubeClient({ kubeconfig }, { log }), isSynced: false };
    connections.set(name, connection);
    return connection;
  };

  return {
    async ask(name, kubeconfig) {
      try {
        const { client } = connect(name, kubeconfig);
        await client.get("/readyz");
        const { gitVersion } = (await client.get("/version")) as { readonly gitVersion?: string };
        return gitVersion;
      } catch (error) {
        log.debug({ cluster: name, err: error }, "the Shoot's API server does not answer");
        return undefined;
      }
    },
    nodes(name, kubeconfig) {
      const connection = connect(name, kubeconfig);
      connection.nodes ??= follow(connection, log, () => onNodes(name));
      return connection.isSynced && connection.nodes.isCurrent() ? connection.nodes.list() : undefined;
    },
    forget,
    async stop() {
      for (const name of [...connections.keys()]) forget(name);
      await Promise.all(ending);
    },
  };
}

interface Connection {
  readonly kubeconfig: string;
  readonly client: KubeClient;
  nodes?: Reflector<Node>;
  isSynced: boolean;
}

function follow(connection: Connection, log: Logger, onChange: () => void): Reflector<Node> {
  const reflector = createReflector(connection.client, Node, { log, keep: identity, onEvent: onChange });
  reflector.start();
  reflector.synced().then(
    () => {
      connection.isSynced = true;
      onChange();
    },
    () => undefined, // stopped before its first list
  );
  return reflector;
}

/** Of a Node, only what names it and its machine. */
const identity = ({ apiVersion, kind, metadata, spec = {} }: Node): Node => ({ apiVersion, kind, metadata, spec });

async function close({ client, nodes }: Connection): Promise<void> {
  await nodes?.stop();
  await client.close();
}
