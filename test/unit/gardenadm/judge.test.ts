import { expect, test } from "vitest";
import { judgeDemand, SIGNERS, type CertificateDemand } from "../../../src/gardenadm/node-access/judge.ts";

const agents = "gardener.cloud:node-agents";
const user = (name: string) => `gardener.cloud:node-agent:machine:${name}`;
const token = (...roles: string[]) => ({
  name: "system:bootstrap:abcdef",
  groups: ["system:bootstrappers", ...roles.map((role) => `system:bootstrappers:gardenadm:${role}`)],
});
const byWorker: CertificateDemand = {
  signer: SIGNERS.client,
  usages: ["digital signature", "client auth"],
  requester: token("worker"),
  request: { commonName: user("w"), organizations: [agents, `${agents}:worker`], hosts: [] },
} satisfies CertificateDemand;
const kubelet = {
  ...byWorker,
  signer: SIGNERS.kubelet,
  request: { commonName: "system:node:w", organizations: ["system:nodes"], hosts: [] },
} satisfies CertificateDemand;
const kubeletNamed = (node: string): CertificateDemand => ({
  ...kubelet,
  request: { ...kubelet.request, commonName: `system:node:${node}` },
});
const serving = {
  ...kubelet,
  signer: SIGNERS.serving,
  usages: ["digital signature", "server auth"],
  requester: { name: "system:node:w", groups: ["system:nodes", "system:authenticated"] },
  request: { ...kubelet.request, hosts: ["w", "10.0.0.7"] },
} satisfies CertificateDemand;

test.for([
  ["an agent of a worker", byWorker, { node: "w", role: "worker" }],
  ["a kubelet of a worker", kubelet, { node: "w", role: "worker" }],
  [
    "an agent that renews",
    { ...byWorker, requester: { name: user("w"), groups: [agents, `${agents}:worker`, "system:authenticated"] } },
    { node: "w", role: "worker" },
  ],
  [
    "an administrator's agent",
    {
      ...byWorker,
      requester: { name: "gardener", groups: ["system:masters"] },
      request: { commonName: user("a"), organizations: [agents, `${agents}:control-plane`], hosts: [] },
    },
    { node: "a", role: "control-plane", byAdministrator: true },
  ],
  ["a kubelet that serves", serving, { node: "w", serves: ["w", "10.0.0.7"] }],
] as const)("%s may be the node whose name it bears", ([, demand, judgement]) => {
  expect(judgeDemand(demand)).toEqual(judgement);
});

test.for([
  [
    "a name on a client",
    { ...byWorker, request: { ...byWorker.request, hosts: ["api.example.org"] } },
    "serves under no name",
  ],
  ["the usage of a server", { ...byWorker, usages: ["client auth", "server auth"] }, "not those of a client"],
  [
    "a kubelet that asks to be a person",
    {
      ...byWorker,
      requester: serving.requester,
      request: { commonName: "admin", organizations: ["gardener.cloud:system:admins"], hosts: [] },
    },
    "may not ask signer",
  ],
  ["a token of two roles", { ...byWorker, requester: token("worker", "control-plane") }, "may not ask for groups"],
  [
    "an administrator for a worker",
    { ...byWorker, requester: { name: "x", groups: ["system:masters"] } },
    "may not ask",
  ],
  ["a user without a token", { ...byWorker, requester: { name: "alice", groups: [] } }, "may not ask for groups"],
  [
    "an agent's user of the name of another",
    { ...byWorker, requester: { name: user("v"), groups: [agents, `${agents}:worker`] } },
    "agent of another machine",
  ],
  [
    "a kubelet in another group",
    { ...kubelet, request: { ...kubelet.request, organizations: ["system:masters"] } },
    "not a kubelet",
  ],
  ["a kubelet of another name", { ...kubelet, request: { ...kubelet.request, commonName: "admin" } }, "not a kubelet"],
  [
    "a name that is a path",
    { ...kubelet, request: { ...kubelet.request, commonName: "system:node:../a" } },
    "cannot name",
  ],
  ["a name with an empty part", kubeletNamed("a..b"), "cannot name"],
  ["a name whose Lease would have too long a name", kubeletNamed("a".repeat(234)), "cannot name"],
  ["a serving certificate by a token", { ...serving, requester: byWorker.requester }, "is not kubelet system:node:w"],
  [
    "a serving certificate of another kubelet",
    { ...serving, requester: { ...serving.requester, name: "system:node:v" } },
    "is not kubelet system:node:w",
  ],
  [
    "a serving certificate by a user with the name of a kubelet",
    { ...serving, requester: { ...serving.requester, groups: ["system:authenticated"] } },
    "is not kubelet system:node:w",
  ],
  [
    "a serving certificate of no kubelet",
    {
      ...serving,
      requester: { ...serving.requester, name: "alice" },
      request: { ...serving.request, commonName: "alice" },
    },
    "is not kubelet alice",
  ],
  [
    "a serving certificate of another group",
    { ...serving, request: { ...serving.request, organizations: ["system:masters"] } },
    "in group system:nodes only",
  ],
  [
    "a serving certificate of a second group",
    { ...serving, request: { ...serving.request, organizations: ["system:nodes", "system:masters"] } },
    "in group system:nodes only",
  ],
  [
    "a serving certificate for clients",
    { ...serving, usages: ["client auth", "server auth"] },
    "not those of a server",
  ],
  ["a serving certificate without names", { ...serving, request: kubelet.request }, "needs a DNS name"],
  ["another user, by a token", { ...byWorker, request: { ...byWorker.request, commonName: "alice" } }, "may not ask"],
  ["a kubelet, by an agent", { ...kubelet, requester: { name: user("w"), groups: [agents] } }, "may not ask signer"],
  ["a malformed request of a token", { ...byWorker, request: { malformed: "it is cut off" } }, "malformed: it is cut"],
  ["a malformed request of a kubelet", { ...serving, request: { malformed: "it is cut off" } }, "malformed: it is cut"],
] as const)("%s is refused", ([, demand, words]) => {
  expect(judgeDemand(demand)).toEqual({ refused: expect.stringContaining(words) as string });
});

test("a name may be as long as that of its Lease allows", () => {
  expect(judgeDemand(kubeletNamed("a".repeat(233)))).toMatchObject({ role: "worker" });
});

test("what is not of nodes is left for others to judge", () => {
  const person = { name: "alice", groups: ["system:authenticated"] };
  const renewing = { name: "system:node:w", groups: ["system:nodes"] };
  const other = { commonName: "alice", organizations: ["developers"], hosts: [] };
  const malformed = { malformed: "it has an attribute" };
  expect(judgeDemand({ ...byWorker, requester: person, request: other })).toBeUndefined();
  expect(judgeDemand({ ...byWorker, requester: person, request: malformed })).toBeUndefined();
  expect(judgeDemand({ ...kubelet, requester: renewing })).toBeUndefined();
  expect(judgeDemand({ ...kubelet, requester: renewing, request: malformed })).toBeUndefined();
});
