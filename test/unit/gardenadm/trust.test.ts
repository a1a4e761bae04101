import { createHmac } from "node:crypto";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { stringify } from "yaml";
import { issueAuthority, issueCertificate } from "../../../src/activities/secrets/pki.ts";
import { trustCluster } from "../../../src/gardenadm/join/trust.ts";
import { authorityHashes } from "../../../src/gardenadm/cluster/authorities.ts";

const TOKEN = { id: "abcdef", secret: "0123456789abcdef" };
const SERVER = "https://api.root.example";

test("a token that was made a moment ago proves the cluster as soon as it is signed", async () => {
  const { address, hashes, ca } = await cluster({ signsAt: 3 });
  const said: string[] = [];
  expect(await trustCluster(address, { token: TOKEN, hashes }, scope(said))).toEqual({ ca, server: SERVER });
  expect(said).toContain(`bootstrap token abcdef is not known to ${address} yet`);
});

test("a token that nothing signs is not known, and may have expired", async () => {
  const { address, hashes } = await cluster({ signsAt: Infinity });
  await expect(trustCluster(address, { token: TOKEN, hashes }, scope(), 600)).rejects.toThrow(
    `bootstrap token abcdef is not known to ${address}: it has expired, or belongs to another cluster`,
  );
});

test("of what a token has signed, only the authorities that the operator has named are trusted", async () => {
  const stranger = await issueAuthority("stranger", new Date());
  const { address, hashes, ca } = await cluster({ signsAt: 1, beside: stranger.certificate });
  expect(await trustCluster(address, { token: TOKEN, hashes }, scope())).toEqual({ ca, server: SERVER });
  expect(await trustCluster(address, { token: TOKEN, hashes: [], ca }, scope())).toEqual({ ca, server: SERVER });
  const all = [...authorityHashes(stranger.certificate, "the test"), ...hashes];
  const trusted = await trustCluster(address, { token: TOKEN, hashes: all }, scope());
  expect(trusted.ca).toBe(`${ca}${stranger.certificate}`);
});

test.each(["http://api.root.example", "api.root.example", ""])(
  "API servers at %j, where nothing proves them, are refused",
  async (server) => {
    const { address, hashes } = await cluster({ signsAt: 1, server });
    await expect(trustCluster(address, { token: TOKEN, hashes }, scope())).rejects.toThrow(
      `${address} says that the API servers of its cluster are at "${server}", where nothing proves them: write their URL with https:// into ConfigMap kube-public/cluster-info`,
    );
  },
);

test.each<[string, Partial<Said>]>([
  ["of another secret", { secret: "fedcba9876543210" }],
  ["that says it is by another algorithm", { alg: "none" }],
])("a signature %s proves nothing", async (_, said) => {
  const { address, hashes } = await cluster({ signsAt: 1, ...said });
  await expect(trustCluster(address, { token: TOKEN, hashes }, scope())).rejects.toThrow(
    `${address} does not prove that it knows bootstrap token abcdef`,
  );
});

test("of a server that nothing proves yet, a megabyte is read and no more", async () => {
  const { address, hashes } = await cluster({ signsAt: 1, beside: "#".repeat(1_048_576) });
  await expect(trustCluster(address, { token: TOKEN, hashes }, scope())).rejects.toThrow(
    `${address} does not answer: its answer is too long`,
  );
});

const scope = (said: string[] = []) => ({
  signal: new AbortController().signal,
  tell: (message: string) => void said.push(message),
});

interface Said {
  readonly signsAt: number;
  readonly beside?: string;
  readonly server?: string;
  /** Of the token by which it signs. */
  readonly secret?: string;
  /** As its signature names it. */
  readonly alg?: string;
}

/** A server that says of its cluster what the token has signed from the answer of this number on; `beside` is another authority. */
async function cluster({ signsAt, beside = "", server: said = SERVER, ...signing }: Said) {
  const authority = await issueAuthority("kubernetes", new Date());
  const request = { commonName: "kube-apiserver", hosts: ["127.0.0.1"], usages: ["server"] as const };
  const { certificate: cert, key } = await issueCertificate(authority, request, new Date());
  const data = Buffer.from(authority.certificate + beside).toString("base64");
  const entry = { name: "", cluster: { server: said, "certificate-authority-data": data } };
  const kubeconfig = stringify({ clusters: [entry] });
  let answers = 0;
  const server = createServer({ cert, key }, (_, answer) => {
    answers += 1;
    const signed = answers >= signsAt ? { "jws-kubeconfig-abcdef": signature(kubeconfig, signing) } : {};
    answer.end(JSON.stringify({ data: { kubeconfig, ...signed } }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { address, hashes: authorityHashes(authority.certificate, "the test"), ca: authority.certificate };
}

/** A JWS by HS256, without its payload. */
function signature(payload: string, { secret = TOKEN.secret, alg = "HS256" }: Pick<Said, "secret" | "alg">): string {
  const header = Buffer.from(JSON.stringify({ alg, kid: "abcdef" })).toString("base64url");
  const signed = `${header}.${Buffer.from(payload).toString("base64url")}`;
  return `${header}..${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}
