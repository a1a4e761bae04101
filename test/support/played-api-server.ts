import type { ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { renderKubeconfig } from "../../src/kube/index.ts";
import { makeCertificates } from "./certificates.ts";

/** An API server of which a test writes the answers. Real ones refuse to be as large, or as hostile, as a user's may be. */
export interface PlayedApiServer {
  readonly kubeconfig: string;
  close(): Promise<void>;
}

/** Answers one request, whose URL has a path and a query. */
export type Answer = (url: URL, response: ServerResponse) => void;

/** Starts the server. It serves these kinds, and answers discovery for them. */
export async function playApiServer(served: readonly PlayedKind[], answer: Answer): Promise<PlayedApiServer> {
  const { ca, serverCert: cert, serverKey: key } = await makeCertificates();
  const server = createServer({ cert, key }, (request, response) => {
    const url = new URL(request.url ?? "/", "https://127.0.0.1");
    response.setHeader("content-type", "application/json");
    const group = url.pathname.replace(/^\/apis?\//, "");
    const resources = served.filter(({ apiVersion }) => apiVersion === group);
    if (resources.length === 0) return answer(url, response);
    response.end(JSON.stringify({ resources: resources.map(inDiscovery) }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    kubeconfig: renderKubeconfig({ server: `https://127.0.0.1:${port}`, ca, token: "none" }),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A kind that the server says it serves. */
export interface PlayedKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

const inDiscovery = ({ kind, plural, namespaced }: PlayedKind) => ({
  ...{ name: plural, kind, namespaced, verbs: ["get", "list", "watch"] },
});
