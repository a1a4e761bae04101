import { createHmac, timingSafeEqual } from "node:crypto";
import { request } from "node:https";
import { setTimeout as delay } from "node:timers/promises";
import { parseYaml, parseJson } from "../../parsing.ts";
import { CLUSTER_INFO_PATH } from "../../components/index.ts";
import type { StepScope } from "../../in-process/run.ts";
import type { BootstrapToken } from "../../kube/index.ts";
import { StepError } from "../../activities/step-error.ts";
import { OperatorError } from "../steps/fault.ts";
import { clockFault } from "../preflight/clock.ts";
import { authoritiesIn, authorityHashes } from "../cluster/authorities.ts";

/** A cluster as a machine that is to join knows it. */
export interface TrustedCluster {
  /** The certificates that may have signed its API servers', in PEM: those that the operator has named. */
  readonly ca: string;
  /** URL of its API servers, by the name under which its machines find them. */
  readonly server: string;
}

/** By what a machine knows the cluster that it is told of. */
export interface Proof {
  readonly token: BootstrapToken;
  /** Of the public keys of its authorities; no other one is trusted. */
  readonly hashes: readonly string[];
  /** PEM, where the operator gives the authority itself. */
  readonly ca?: string | undefined;
}

/**
 * Asks an API server which cluster it belongs to, and believes it when the token has signed the answer and an authority is one
 * that the operator has named, as kubeadm does; of others beside that, it takes nothing over. Nothing secret is sent. A token that was made a moment ago is waited for. Throws an
 * OperatorError that says what does not fit, and a StepError where the server may answer otherwise a moment later.
 */
export async function trustCluster(
  address: string,
  proof: Proof,
  scope: StepScope,
  atMost = SIGNED_WITHIN,
): Promise<TrustedCluster> {
  const { info, date } = await readSigned(address, proof.token, scope, atMost);
  const { kubeconfig = "" } = info;
  const fault = clockFault(date, new Date());
  if (fault !== undefined) throw new OperatorError(fault);
  confirmSignature(info, kubeconfig, proof.token, address);
  const { clusters } = parseYaml(kubeconfig, `what ${address} says of its cluster`) as Kubeconfig;
  const { server = "", "certificate-authority-data": data = "" } = clusters?.[0]?.cluster ?? {};
  const named = proof.ca === undefined ? proof.hashes : authorityHashes(proof.ca, "--ca-certificate");
  const found = authoritiesIn(Buffer.from(data, "base64").toString(), address);
  const trusted = found.filter(({ hash }) => named.includes(hash));
  if (trusted.length === 0)
    throw new OperatorError(
      `${address} belongs to another cluster: its authority is ${found.map(({ hash }) => hash).join(", ")}, and ${named.join(", ")} is expected; make the line anew with 'gardenadm token create --print-join-command' on a node of the cluster that is meant`,
    );
  refuseUnproved(server, address);
  return { ca: trusted.map(({ pem }) => pem).join(""), server };
}

function refuseUnproved(server: string, address: string): void {
  if (URL.parse(server)?.protocol === "https:") return;
  throw new OperatorError(
    `${address} says that the API servers of its cluster are at "${server}", where nothing proves them: write their URL with https:// into ConfigMap kube-public/cluster-info`,
  );
}

interface Kubeconfig {
  readonly clusters?: readonly {
    readonly cluster?: { readonly server?: string; readonly "certificate-authority-data"?: string };
  }[];
}

type Info = Readonly<Record<string, string | undefined>>;

/** In ms: a controller manager that has just begun signs later, when it leads. */
const SIGNED_WITHIN = 30_000;

/** What is read as soon as the token has signed it; after that time, as it is. */
async function readSigned(
  address: string,
  { id }: BootstrapToken,
  { signal, tell }: StepScope,
  atMost: number,
): Promise<Answer> {
  for (const since = performance.now(); ;) {
    const answer = await readInfo(address, signal);
    if (answer.info[signatureOf(id)] !== undefined || performance.now() - since > atMost) return answer;
    tell(`bootstrap token ${id} is not known to ${address} yet`);
    await delay(500, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

/** The key of a token's signature in the ConfigMap. */
const signatureOf = (id: string): string => `jws-kubeconfig-${id}`;

interface Answer {
  readonly info: Info;
  readonly date: Date;
}

/** What is read over a connection that proves nothing yet. */
async function readInfo(address: string, signal: AbortSignal): Promise<Answer> {
  const url = new URL(CLUSTER_INFO_PATH, address);
  const limited = AbortSignal.any([signal, AbortSignal.timeout(10_000)]);
  const { status, text, date } = await get(url, limited).catch((cause: Error) => {
    signal.throwIfAborted();
    throw new StepError(
      `${address} does not answer: ${cause.message}; see that the address is right and its port open`,
      [],
      { cause, within: PAUSE },
    );
  });
  // An API server that has just begun refuses whom it lets in a moment later.
  if (status !== 200)
    throw new StepError(
      `${address} shows no ConfigMap kube-public/cluster-info (status ${status}): unless its API server is only just beginning, it is no cluster that gardenadm has made`,
      [],
      { within: PAUSE },
    );
  const { data = {} } = parseJson(text, `the answer of ${address}`) as { readonly data?: Info };
  return { info: data, date: new Date(date) };
}

/** In ms, before a server that changes or is away for a moment is asked again. */
const PAUSE = 3_000;

/** In characters: the ConfigMap has a certificate, and a signature for each token. */
const LONGEST = 1_048_576;

async function get(url: URL, signal: AbortSignal): Promise<{ status: number; text: string; date: string }> {
  return await new Promise((resolve, reject) => {
    const sent = request(url, { rejectUnauthorized: false, agent: false, signal }, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (chunk: string) => {
        text += chunk;
        if (text.length > LONGEST) sent.destroy(new Error("its answer is too long"));
      });
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text, date: answer.headers.date ?? "" }));
    });
    sent.on("error", reject);
    sent.end();
  });
}

/** The controller manager signs for each token that may prove the cluster: a JWS without its payload, by HS256. */
function confirmSignature(info: Info, content: string, { id, secret }: BootstrapToken, address: string): void {
  const detached = info[signatureOf(id)];
  if (detached === undefined)
    throw new OperatorError(
      `bootstrap token ${id} is not known to ${address}: it has expired, or belongs to another cluster; make one with 'gardenadm token create --print-join-command'`,
    );
  const [header = "", , signature = ""] = detached.split(".");
  const signed = `${header}.${Buffer.from(content).toString("base64url")}`;
  const expected = createHmac("sha256", secret).update(signed).digest();
  const given = Buffer.from(signature, "base64url");
  const { alg } = parseJson(Buffer.from(header, "base64url").toString(), "a signature") as { readonly alg?: string };
  if (alg === "HS256" && given.length === expected.length && timingSafeEqual(given, expected)) return;
  throw new OperatorError(
    `${address} does not prove that it knows bootstrap token ${id}: the token is misspelt, or the machine is not of the cluster that made it`,
  );
}
