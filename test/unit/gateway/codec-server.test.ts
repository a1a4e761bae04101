import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFile, mkdtemp, rm } from "node:fs/promises";
import { Agent, request } from "node:https";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultPayloadConverter } from "@temporalio/common";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCodec } from "../../../src/client/payloads/codec.ts";
import { createCodecServer, type CodecServer } from "../../../src/gateway/codec-server.ts";
import { fromJson, toJson } from "../../../src/client/payloads/json.ts";
import { parseKeyFile } from "../../../src/key-file.ts";
import { createPki, type CertificateRequest, type KeyPair } from "../../../src/local/cluster/pki.ts";
import { createLogger } from "../../../src/log.ts";
import { eventually } from "../../support/eventually.ts";

const origin = "https://temporal.example";
const codec = createCodec(
  parseKeyFile(JSON.stringify({ keys: [{ id: "one", secret: randomBytes(32).toString("base64") }] }), "test"),
);
let folder: string;
let authority: KeyPair;
let server: CodecServer;
let port: number;
let issue: (request: Omit<CertificateRequest, "name">) => Promise<KeyPair>;
let encrypted: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "perennial-codec-"));
  const pki = createPki(folder);
  authority = await pki.authority("gateway");
  let count = 0;
  issue = (subject) => pki.issue(authority, { name: `certificate-${(count += 1)}`, ...subject });
  const own = await issue({ commonName: "perennial:gateway", hosts: ["127.0.0.1"] });
  const files = { certFile: own.certificateFile, keyFile: own.keyFile, clientCaFile: authority.certificateFile };
  const log = createLogger({ name: "test", level: "silent" });
  server = await createCodecServer({ codec, files, origin, token: "letmein", log });
  port = await server.start({ host: "127.0.0.1", port: 0 });
  const payloads = await codec.encode([defaultPayloadConverter.toPayload("hidden")]);
  encrypted = JSON.stringify({ payloads: payloads.map(toJson) });
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Ask {
  readonly as?: KeyPair;
  readonly headers?: Record<string, string>;
  readonly method?: string;
  readonly path?: string;
  readonly body?: string;
  /** Keeps the connection for the next request. */
  readonly agent?: Agent;
}

async function ask({ as, headers = {}, method = "POST", path = "/decode", body = encrypted, agent }: Ask) {
  const ca = await readFile(authority.certificateFile);
  return await new Promise<{ status: number; headers: Record<string, unknown>; body: string }>((resolve, reject) => {
    const identity = as && { cert: as.certificate, key: as.key };
    const sent = request(
      { host: "127.0.0.1", port, path, method, headers, ca, ...identity, agent: agent ?? false },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => (text += part));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
      },
    );
    sent.once("error", reject).end(method === "POST" ? body : undefined);
  });
}

const decoded = (body: string): unknown => {
  const { payloads } = JSON.parse(body) as { payloads: Parameters<typeof fromJson>[0][] };
  return payloads.map((payload) => defaultPayloadConverter.fromPayload(fromJson(payload)));
};

describe("the codec server", () => {
  it("decrypts for a certificate of the garden, and for the token", async () => {
    const operator = await issue({ commonName: "perennial:operator", organization: "perennial:garden" });
    expect(decoded((await ask({ as: operator })).body)).toEqual(["hidden"]);
    expect(decoded((await ask({ headers: { authorization: "Bearer letmein" } })).body)).toEqual(["hidden"]);
  });

  it("encrypts what the UI or the CLI sends on", async () => {
    const body = JSON.stringify({ payloads: [toJson(defaultPayloadConverter.toPayload("sent"))] });
    const answer = await ask({ path: "/encode", body, headers: { authorization: "Bearer letmein" } });
    expect(answer.body).not.toContain(Buffer.from('"sent"').toString("base64"));
    expect(decoded((await ask({ body: answer.body, headers: { authorization: "Bearer letmein" } })).body)).toEqual([
      "sent",
    ]);
  });

  it("decrypts nothing for a seed's worker, another authority's certificate, a wrong token or no identity", async () => {
    const seed = await issue({ commonName: "perennial:seed:seed-1", organization: "perennial:seeds" });
    const foreign = await createPki(join(folder, "foreign"))
      .authority("foreign")
      .then((by) =>
        createPki(join(folder, "foreign")).issue(by, {
          name: "x",
          commonName: "perennial:x",
          organization: "perennial:garden",
        }),
      );
    for (const caller of [
      {},
      { as: seed },
      { as: foreign },
      { headers: { authorization: "Bearer wrong" } },
      { headers: { authorization: "Bearer " } },
    ])
      expect(await ask(caller)).toMatchObject({ status: 401, body: "{}" });
  });

  it("stops decrypting on a connection whose certificate has expired since it began", async () => {
    const caller = await issue({ commonName: "perennial:operator", organization: "perennial:garden", lifetime: 4_000 });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect((await ask({ as: caller, agent })).status).toBe(200);
    const [connection] = Object.values(agent.freeSockets).flat();
    await eventually(async () => expect((await ask({ as: caller, agent })).status).toBe(401));
    expect(Object.values(agent.freeSockets).flat()).toEqual([connection]);
    agent.destroy();
  });

  it("decrypts while strangers keep more connections open than it allows", async () => {
    const strangers = Array.from({ length: 150 }, () =>
      connect({ host: "127.0.0.1", port }).on("error", () => undefined),
    );
    await Promise.all(strangers.map((socket) => once(socket, "connect")));
    await eventually(() => expect(strangers.filter(({ destroyed }) => destroyed)).not.toHaveLength(0));
    expect((await ask({ headers: { authorization: "Bearer letmein" } })).status).toBe(200);
    for (const socket of strangers) socket.destroy();
  });

  it("lets pages of the UI's origin call it, and of no other", async () => {
    const preflight = (from: string) => ask({ method: "OPTIONS", headers: { origin: from } });
    expect((await preflight(origin)).headers).toMatchObject({
      "access-control-allow-origin": origin,
      "access-control-allow-credentials": "true",
    });
    expect((await preflight("https://evil.example")).headers).not.toHaveProperty("access-control-allow-origin");
  });

  it("answers 400 to what it cannot decrypt, and goes on", async () => {
    const payload = { metadata: { encoding: Buffer.from("binary/encrypted").toString("base64") }, data: "AAAA" };
    const headers = { authorization: "Bearer letmein" };
    expect((await ask({ headers, body: JSON.stringify({ payloads: [payload] }) })).status).toBe(400);
    expect((await ask({ headers, body: "no JSON" })).status).toBe(400);
    expect((await ask({ headers })).status).toBe(200);
  });
});
