import { setTimeout as sleep } from "node:timers/promises";
import { POOL_LABEL } from "../../api/labels.ts";
import {
  createKubeClient,
  createReflector,
  Node,
  untrusted,
  type KubeClient,
  type Reflector,
} from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import { omitUndefined } from "../../omit-undefined.ts";

/** The API servers of Shoots, by a name for each; a new kubeconfig replaces the connection. */
export interface ApiServers {
  /**
   * The version that the API server runs, with a leading v; undefined while it does not answer that it is ready. One that is slow is
   * waited for a moment only, and asked on meanwhile: its answer comes with the next call, which `onNews` asks for.
   */
  ask(name: string, kubeconfig: string): Promise<string | undefined>;
  /** The Nodes, by a watch that begins with the first call; undefined while the watch is broken or has not begun. */
  nodes(name: string, kubeconfig: string): readonly Node[] | undefined;
  /** Ends the connection and the watch. */
  forget(name: string): void;
  stop(): Promise<void>;
}

/** Connections to Shoots; `onNews` is called with a name whose Nodes have changed, or whose API server has answered late. */
export function createApiServers(log: Logger, onNews: (name: string) => void): ApiServers {
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
    const connection: Connection = {
      kubeconfig,
      client: createKubeClient({ kubeconfig }, { log, bounds: untrusted }),
      isSynced: false,
      isAsked: false,
    };
    connections.set(name, connection);
    return connection;
  };

  return {
    async ask(name, kubeconfig) {
      const connection = connect(name, kubeconfig);
      const { late } = connection;
      delete connection.late;
      if (late !== undefined || connection.isAsked) return late;
      connection.isAsked = true;
      let isAwaited = true;
      const asking = versionOf(connection, name, log).then((version) => {
        connection.isAsked = false;
        if (isAwaited || version === undefined || connections.get(name) !== connection) return version;
        connection.late = version;
        onNews(name);
        return version;
      });
      const found = await Promise.race([asking, sleep(MOMENT, undefined, { ref: false })]);
      isAwaited = false;
      return found;
    },
    nodes(name, kubeconfig) {
      const connection = connect(name, kubeconfig);
      connection.nodes ??= follow(connection, log, () => onNews(name));
      return connection.isSynced && connection.nodes.isCurrent() ? connection.nodes.list() : undefined;
    },
    forget,
    async stop() {
      for (const name of [...connections.keys()]) forget(name);
      await Promise.all(ending);
    },
  };
}

/** In characters of JSON of what is remembered: some 20,000 Nodes of a Shoot. Who writes its kubeconfig chooses a server that may go on and on. */
const MOST_NODES = 4_000_000;

/** In characters, of a version and of what a provider calls a machine. */
const LONGEST_VERSION = 63;
const LONGEST_ID = 512;

/** In ms: how long a Cluster's reconciliation waits for an answer. Who writes the kubeconfig chooses the server, and all Clusters share the workers. */
const MOMENT = 1_000;

async function versionOf({ client }: Connection, name: string, log: Logger): Promise<string | undefined> {
  try {
    await client.get("/readyz");
    const { gitVersion } = (await client.get("/version")) as { readonly gitVersion?: unknown };
    return typeof gitVersion === "string" && gitVersion.length <= LONGEST_VERSION ? gitVersion : undefined;
  } catch (error) {
    log.debug({ cluster: name, err: error }, "the Shoot's API server does not answer");
    return undefined;
  }
}

interface Connection {
  readonly kubeconfig: string;
  readonly client: KubeClient;
  /** Whether a question is under way. */
  isAsked: boolean;
  /** An answer that came when nothing waited for it any more. */
  late?: string;
  nodes?: Reflector<Node>;
  isSynced: boolean;
}

function follow(connection: Connection, log: Logger, onChange: () => void): Reflector<Node> {
  const reflector = createReflector(connection.client, Node, {
    log,
    most: MOST_NODES,
    keep: identityOf,
    onEvent: onChange,
  });
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

/**
 * Of a Node, only what names it, its pool and its machine, where that is no whole text: users of the Shoot write all of it, as much as they
 * like.
 */
export function identityOf({ apiVersion, kind, metadata, spec }: Node): Node {
  const { name, uid, resourceVersion, labels } = metadata;
  const { [POOL_LABEL]: pool } = labels ?? {};
  const kept = { name, ...omitUndefined({ uid, resourceVersion }), ...(pool && { labels: { [POOL_LABEL]: pool } }) };
  const { providerID = "" } = spec ?? {};
  const isName = providerID !== "" && providerID.length <= LONGEST_ID;
  return { apiVersion, kind, metadata: kept, spec: isName ? { providerID } : {} };
}

/** A server that never comes to the end of an answer keeps neither the process from its end, nor a leader from leading again. */
async function close({ client, nodes }: Connection): Promise<void> {
  const closing = Promise.all([nodes?.stop(), client.close()]);
  await Promise.race([closing.catch(() => {}), sleep(CLOSE_TIMEOUT, undefined, { ref: false })]);
}

/** In ms: how long what is under way may take when a connection is given up. */
const CLOSE_TIMEOUT = 2_000;
