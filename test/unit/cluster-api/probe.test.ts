import { createServer } from "node:https";
import { createServer as createSocketServer, type AddressInfo, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { afterEach, beforeAll, expect, test } from "vitest";
import { probeEndpoint } from "../../../src/cluster-api/endpoint/probe.ts";
import { keepTrust } from "../../../src/cluster-api/endpoint/trust.ts";
import { renderKubeconfig } from "../../../src/kube/index.ts";
import { makeCertificates, type Certificates } from "../../support/certificates.ts";

let certificates: Certificates;
let server: Server | undefined;

beforeAll(async () => void (certificates = await makeCertificates()));
afterEach(() => new Promise<void>((resolve) => (server === undefined ? resolve() : server.close(() => resolve()))));

async function listen(made: Server): Promise<number> {
  server = made;
  await new Promise<void>((resolve) => made.listen(0, "127.0.0.1", resolve));
  return (made.address() as AddressInfo).port;
}

const serve = (answers: (headers: object, name: string | false | null | undefined) => number) => {
  const { serverCert: cert, serverKey: key } = certificates;
  return listen(
    createServer({ cert, key }, ({ headers, socket }, answer) => {
      answer.writeHead(answers(headers, (socket as { servername?: string | false }).servername)).end();
    }),
  );
};

test("an API server is asked without credentials, and 401 and 403 are answers", async () => {
  for (const status of [200, 401, 403]) {
    const port = await serve((headers) => ("authorization" in headers ? 500 : status));
    const found = await probeEndpoint({ host: "127.0.0.1", port }, { ca: certificates.ca, server: undefined });
    expect(found).toEqual({ type: "Serving", status: "True", reason: "Answers", message: `127.0.0.1:${port} answers` });
    await new Promise<void>((resolve) => server?.close(() => resolve()));
  }
  server = undefined;
});

test("a kubeconfig that leads to the endpoint under another name is checked by that name, any other by the host", async () => {
  const names: unknown[] = [];
  const port = await serve((_, name) => (names.push(name), 200));
  const endpoint = { host: "127.0.0.1", port };
  const trust = { ca: certificates.ca, serverName: "localhost" };
  await probeEndpoint(endpoint, { ...trust, server: endpoint });
  await probeEndpoint(endpoint, { ...trust, server: { host: "10.0.0.1", port } });
  expect(names).toEqual(["localhost", false]);
});

test.each([
  ["another name", { serverName: "other.example.com" }, "CertificateForOtherNames", "is for other names"],
  ["another authority", { ca: "" }, "CertificateNotTrusted", "is not trusted"],
])("a certificate of %s is not good", async (_, change, reason, message) => {
  const port = await serve(() => 200);
  const endpoint = { host: "127.0.0.1", port };
  const foreign = (await makeCertificates()).ca;
  const trust = {
    ca: "ca" in change ? foreign : certificates.ca,
    server: endpoint,
    ...("serverName" in change && change),
  };
  const found = await probeEndpoint(endpoint, trust);
  expect(found).toMatchObject({ status: "False", reason, message: expect.stringContaining(message) });
});

test.each([301, 404, 500, 503])("an API server that answers /readyz with %i is not ready", async (status) => {
  const port = await serve(() => status);
  const found = await probeEndpoint({ host: "127.0.0.1", port }, { ca: certificates.ca, server: undefined });
  const message = `127.0.0.1:${port} answers /readyz with status ${status}`;
  expect(found).toEqual({ type: "Serving", status: "False", reason: "NotReady", message });
});

test.each<[string, (socket: Socket) => void, string]>([
  ["says nothing", (socket) => socket.resume(), "Timeout"],
  ["speaks HTTP without TLS", (socket) => socket.resume().end("HTTP/1.1 400 Bad Request\r\n\r\n"), "NoTLS"],
  ["hangs up", (socket) => socket.destroy(), "Unreachable"],
])("an endpoint that takes connections and %s does not serve", async (_, meet, reason) => {
  const port = await listen(createSocketServer((socket) => meet(socket.on("error", () => {}))));
  const found = await probeEndpoint(
    { host: "127.0.0.1", port },
    { ca: certificates.ca, server: undefined },
    { timeout: 500 },
  );
  expect(found).toMatchObject({ status: "False", reason });
});

test("an endpoint that answers a letter at a time is given up in time", async () => {
  const { serverCert: cert, serverKey: key } = certificates;
  const slow = createTlsServer({ cert, key }, (socket) => {
    socket.write("HTTP/1.1 200 OK\r\nSlow: ");
    const timer = setInterval(() => socket.write("a"), 20);
    socket.on("error", () => {}).on("close", () => clearInterval(timer));
  });
  const port = await listen(slow);
  const found = await probeEndpoint(
    { host: "127.0.0.1", port },
    { ca: certificates.ca, server: undefined },
    { timeout: 300 },
  );
  expect(found.reason).toBe("Timeout");
});

test("an endpoint that refuses connections, and one whose name is not found, do not serve", async () => {
  const trust = { ca: certificates.ca, server: undefined };
  const port = await listen(createSocketServer());
  await new Promise<void>((resolve) => server?.close(() => resolve()));
  server = undefined;
  const refusing = await probeEndpoint({ host: "127.0.0.1", port }, trust);
  expect(refusing).toMatchObject({ status: "False", reason: "ConnectionRefused" });
  const nameless = await probeEndpoint({ host: "nothing.invalid", port: 443 }, trust);
  expect(nameless).toMatchObject({ status: "False", reason: "NameNotFound" });
});

test("a kubeconfig that leads to the endpoint under an address is checked by that address", async () => {
  const port = await serve(() => 200);
  const endpoint = { host: "127.0.0.1", port };
  const trust = { ca: certificates.ca, server: endpoint };
  expect(await probeEndpoint(endpoint, { ...trust, serverName: "127.0.0.1" })).toMatchObject({ status: "True" });
  const other = await probeEndpoint(endpoint, { ...trust, serverName: "10.9.9.9" });
  expect(other).toMatchObject({ reason: "CertificateForOtherNames" });
});

test("of a kubeconfig nothing is remembered but authority, server and name, whose it is, and a digest; of any other Secret nothing", () => {
  const text = renderKubeconfig({ server: "https://api.example.com", ca: "CA", token: "secret", tlsServerName: "own" });
  const secretOf = (name: string, value: string) =>
    keepTrust({
      ...{ apiVersion: "v1", kind: "Secret", metadata: { name, namespace: "fleet", labels: { a: "b" } } },
      data: { value: Buffer.from(value).toString("base64") },
    });
  const metadata = { name: "foo-kubeconfig", namespace: "fleet", labels: { a: "b" } };
  const digest = expect.any(String) as string;
  expect(secretOf("foo-kubeconfig", text)).toEqual({
    ...{ apiVersion: "v1", kind: "Secret", metadata, digest },
    trust: { ca: "CA", server: { host: "api.example.com", port: 443 }, serverName: "own" },
  });
  expect(secretOf("foo-kubeconfig", "no kubeconfig")).toEqual({ apiVersion: "v1", kind: "Secret", metadata, digest });
  expect(secretOf("foo-ca", text)).not.toHaveProperty("trust");
});

test.each([
  ["an authority of more than 96 KB", { ca: "C".repeat(98_305) }],
  ["a name of more than 253 letters", { tlsServerName: "n".repeat(254) }],
  ["a host of more than 253 letters", { server: `https://${"h".repeat(254)}` }],
])("of a kubeconfig with %s, which a user may write by the hundred, nothing is remembered", (_, change) => {
  const text = renderKubeconfig({ server: "https://api.example.com", ca: "CA", token: "secret", ...change });
  const found = keepTrust({
    ...{ apiVersion: "v1", kind: "Secret", metadata: { name: "foo-kubeconfig", namespace: "fleet" } },
    data: { value: Buffer.from(text).toString("base64") },
  });
  expect(found).not.toHaveProperty("trust");
  expect(JSON.stringify(found).length).toBeLessThan(1_000);
});
