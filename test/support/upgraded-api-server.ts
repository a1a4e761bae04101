import { createServer } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent, request } from "undici";
import { makeServingCertificate } from "../../src/admission/index.ts";
import { parseKubeconfig, renderKubeconfig } from "../../src/kube/index.ts";

/** An API server of which a test says the version; everything else it has from the API server behind it. */
export interface UpgradedApiServer {
  readonly kubeconfig: string;
  readonly url: string;
  /** From now on it says that it runs this version, with a leading v. */
  run(version: string): void;
  stop(): Promise<void>;
}

/** Starts one on loopback, over TLS; `kubeconfig` must authenticate with a token. */
export async function startUpgradedApiServer(kubeconfig: string, version: string): Promise<UpgradedApiServer> {
  const { server: upstream, cluster, user } = parseKubeconfig(kubeconfig);
  const ca = Buffer.from(String(cluster["certificate-authority-data"]), "base64").toString();
  const agent = new Agent({ allowH2: false, connect: { ca }, bodyTimeout: 0 });
  let running = version;

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    if (incoming.url === "/version")
      return void outgoing
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ major: "1", minor: running.split(".")[1], gitVersion: running }));
    const answer = await request(upstream + incoming.url, {
      dispatcher: agent,
      method: incoming.method as "GET",
      headers: { ...incoming.headers, host: undefined, connection: undefined, "transfer-encoding": undefined },
      body: incoming.method === "GET" ? null : incoming,
    });
    outgoing.writeHead(answer.statusCode, answer.headers);
    outgoing.on("close", () => answer.body.on("error", () => {}).destroy());
    answer.body.on("error", () => outgoing.destroy()).pipe(outgoing);
  }

  const { cert, key, caBundle } = await makeServingCertificate(["127.0.0.1"]);
  const server = createServer({ cert, key }, (incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => incoming.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    kubeconfig: renderKubeconfig({ server: url, ca: caBundle, token: String(user["token"]) }),
    url,
    run: (next) => void (running = next),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await agent.destroy();
    },
  };
}
