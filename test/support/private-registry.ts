import { execFile } from "node:child_process";
import { createReadStream } from "node:fs";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { issueAuthority, issueCertificate } from "../../src/activities/secrets/pki.ts";

/** A registry with an authority of its own. */
export interface PrivateRegistry {
  readonly port: number;
  /** The certificate of its authority, in PEM. */
  readonly authority: string;
  stop(): Promise<void>;
}

/** Serves, at any address of this host and known by `host`, the one image of a tar in OCI's layout, whatever name and tag are asked for. */
export async function startPrivateRegistry(tar: string, host: string): Promise<PrivateRegistry> {
  const layout = await mkdtemp(join(tmpdir(), "private-registry-"));
  await promisify(execFile)("tar", ["--extract", "--file", tar, "--directory", layout]);
  const { manifests } = JSON.parse(await readFile(join(layout, "index.json"), "utf8")) as {
    manifests: readonly [{ readonly digest: string; readonly mediaType: string }];
  };
  const [{ digest, mediaType }] = manifests;
  const authority = await issueAuthority("private-registry", new Date());
  const request = { commonName: "registry", hosts: [host], usages: ["server" as const] };
  const { certificate: cert, key } = await issueCertificate(authority, request, new Date());
  const server = createServer({ cert, key }, (asked, answer) => {
    const [, kind, named = ""] = /^\/v2\/[^?]+\/(manifests|blobs)\/([^?]+)/.exec(asked.url ?? "") ?? [];
    if (kind === undefined) return void answer.writeHead(200).end();
    const found = kind === "manifests" ? digest : named;
    const file = join(layout, "blobs", found.replace(":", "/"));
    stat(file).then(
      ({ size }) => {
        const type = kind === "manifests" ? mediaType : "application/octet-stream";
        answer.writeHead(200, { "content-length": size, "content-type": type, "docker-content-digest": found });
        if (asked.method === "HEAD") answer.end();
        else createReadStream(file).pipe(answer);
      },
      () => answer.writeHead(404).end(),
    );
  });
  return { port: await listen(server), authority: authority.certificate, stop: async () => await stop(server, layout) };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  return (server.address() as AddressInfo).port;
}

async function stop(server: Server, layout: string): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(layout, { recursive: true });
}
