import { Agent, request } from "node:https";
import { createAdmissionServer, makeServingCertificate } from "../../src/admission/index.ts";
import type { KubeObject } from "../../src/api/index.ts";
import { createLogger } from "../../src/log.ts";
import { askedAbout, moreExamples } from "../support/garden-examples.ts";
import { exampleObjects } from "../support/examples.ts";
import { startStillGarden } from "./garden.ts";
import { mutate } from "./mutate.ts";
import { createChance, type Chance } from "./random.ts";
import type { Finding, Tally } from "./report.ts";

/**
 * Sends mutated objects of each kind to the real admission server, as an API server would, but without the schema that
 * would stop most of them before. Every one has to be admitted or refused: a server that breaks is a finding.
 */
export async function fuzzAdmission({ seed, count }: { seed: number; count: number }): Promise<Tally[]> {
  const examples = [...(await exampleObjects()), ...moreExamples];
  const garden = await startStillGarden(examples);
  const { caBundle: ca, ...tls } = await makeServingCertificate(["127.0.0.1"]);
  const log = createLogger({ name: "fuzz", level: "silent" });
  const server = createAdmissionServer({ client: garden.client, log, host: "127.0.0.1", port: 0, tls });
  const port = await server.start();
  const agent = new Agent({ keepAlive: true, maxSockets: 4, ca });
  try {
    const tallies: Tally[] = [];
    for (const [kind, webhooks] of Object.entries(askedAbout)) {
      const example = examples.find((one) => one.kind === kind);
      if (example === undefined) throw new Error(`there is no example of a ${kind}`);
      const chance = createChance(seed);
      tallies.push(
        await fuzzKind({ example, webhooks, count, chance, ask: (path, body) => post(agent, port, path, body) }),
      );
    }
    return tallies;
  } finally {
    agent.destroy();
    await server.stop();
    await garden.stop();
  }
}

interface KindFuzz {
  readonly example: KubeObject;
  readonly webhooks: readonly string[];
  readonly count: number;
  readonly chance: Chance;
  ask(path: string, body: string): Promise<{ status: number; body: string }>;
}

async function fuzzKind({ example, webhooks, count, chance, ask }: KindFuzz): Promise<Tally> {
  const findings: Finding[] = [];
  const times: number[] = [];
  const outcomes = { admitted: 0, refused: 0 };
  for (let n = 0; n < count; n += 1) {
    const review = reviewOf(example, chance);
    for (const path of webhooks) {
      const begun = performance.now();
      const { status, body } = await ask(path, review);
      times.push(performance.now() - begun);
      const allowed = verdictOf(status, body);
      if (allowed === undefined)
        findings.push({ case: n, input: review, outcome: `${path} answered ${status}: ${body.slice(0, 500)}` });
      else outcomes[allowed ? "admitted" : "refused"] += 1;
    }
  }
  return { what: example.kind, count, outcomes, times, findings };
}

/** Created, updated from the example or from another mutation, or deleted. */
function reviewOf(example: KubeObject, chance: Chance): string {
  const operation = chance.oneOf(["CREATE", "CREATE", "UPDATE", "UPDATE", "DELETE"] as const);
  const [group = "", version = ""] = example.apiVersion.split("/");
  const old = chance.below(4) === 0 ? mutate(example, chance) : example;
  return JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: {
      uid: "1",
      operation,
      kind: { group, version, kind: example.kind },
      name: example.metadata.name,
      namespace: example.metadata.namespace,
      userInfo: { username: "fuzz" },
      object: operation === "DELETE" ? null : mutate(example, chance),
      oldObject: operation === "CREATE" ? null : old,
    },
  });
}

/** Whether the request was admitted; undefined for an answer that an API server could make nothing of. */
function verdictOf(status: number, body: string): boolean | undefined {
  if (status !== 200) return undefined;
  const { response } = JSON.parse(body) as {
    response?: { allowed?: boolean; uid?: string; status?: { message?: string } };
  };
  if (response?.uid !== "1" || typeof response.allowed !== "boolean") return undefined;
  return response.allowed || (response.status?.message ?? "") !== "" ? response.allowed : undefined;
}

function post(agent: Agent, port: number, path: string, body: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ agent, host: "127.0.0.1", port, path, method: "POST" }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
