import type { IncomingMessage, ServerResponse } from "node:http";
import { Agent, createServer, request as send } from "node:https";
import { createSecureContext, type SecureContext, type TLSSocket } from "node:tls";
import { parseKubeconfig, Secret, type KubeClient } from "../../src/kube/index.ts";

/** What plays the API servers of a seed's Shoots. */
export interface ApiServersDeps {
  readonly seedClient: KubeClient;
  /** IP address, on which it listens at port 443. */
  readonly address: string;
  /** A kubeconfig with a token for the one API server behind all of them. */
  readonly backend: string;
  /** Whether the Shoot of this namespace has an API server here now. */
  readonly serves: (namespace: string) => boolean;
}

/**
 * One address that plays the API servers of all Shoots of a seed: it shows the serving certificate of the Shoot that the
 * client names, lets in whom the Shoot's authority for clients knows, and hands the request to one real API server.
 */
export async function startApiServers({
  seedClient,
  address,
  backend,
  serves,
}: ApiServersDeps): Promise<{ stop(): void }> {
  const forward = createForwarder(backend);
  const server = createServer(
    {
      requestCert: true,
      rejectUnauthorized: false,
      SNICallback: (name, done) =>
        void contextOf(seedClient, namespaceOf(name)).then(
          (context) => done(null, context),
          (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
        ),
    },
    (request, response) => {
      const socket = request.socket as TLSSocket & { servername?: string };
      if (!serves(namespaceOf(socket.servername ?? ""))) return void socket.destroy();
      if (!socket.authorized) return void response.writeHead(401).end(String(socket.authorizationError));
      forward(request, response);
    },
  );
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(443, address, resolve));
  return {
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** `api.<shoot>.<project>.…` belongs to `shoot--<project>--<shoot>`. */
function namespaceOf(host: string): string {
  const [, name, project] = host.split(".");
  return `shoot--${project}--${name}`;
}

/** Read for each connection: keys come and go with the namespace. */
async function contextOf(seedClient: KubeClient, namespace: string): Promise<SecureContext> {
  const read = async (name: string) => {
    const secret = await seedClient.read(Secret, { namespace, name });
    return (key: string) => Buffer.from(secret?.data?.[key] ?? "", "base64").toString();
  };
  const [serving, clients] = await Promise.all([read("kube-apiserver"), read("ca-client")]);
  return createSecureContext({ cert: serving("tls.crt"), key: serving("tls.key"), ca: clients("ca.crt") });
}

/** Whoever was let in is an administrator behind the door. */
function createForwarder(backend: string) {
  const { server, cluster, user } = parseKubeconfig(backend);
  const ca = Buffer.from(String(cluster["certificate-authority-data"]), "base64");
  const agent = new Agent({ ca, keepAlive: true, maxCachedSessions: 0 });
  const authorization = `Bearer ${String(user["token"])}`;
  return (incoming: IncomingMessage, response: ServerResponse): void => {
    const { method, headers } = incoming;
    const outgoing = send(
      new URL(incoming.url ?? "/", server),
      { method, agent, headers: { ...headers, host: new URL(server).host, authorization } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
        answer.once("error", () => response.destroy());
      },
    );
    outgoing.once("error", () => response.destroy());
    response.once("close", () => outgoing.destroy());
    incoming.pipe(outgoing);
  };
}
