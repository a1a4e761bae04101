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
  subject: { commonName: user("w"), organizations: [agents, `${agents}:worker`] },
  hosts: [],
};
const kubelet: CertificateDemand = {
  ...byWorker,
  signer: SIGNERS.kubelet,
  subject: { commonName: "system:node:w", organizations: ["system:nodes"] },
};

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
      subject: { commonName: user("a"), organizations: [agents, `${agents}:control-plane`] },
    },
    { node: "a", role: "control-plane", byAdministrator: true },
  ],
] as const)("%s may be the node whose name it bears", ([, demand, judgement]) => {
  expect(judgeDemand(demand)).toEqual(judgement);
});

test.for([
  ["a name on a client", { ...byWorker, hosts: ["api.example.org"] }, "serves under no name"],
  ["the usage of a server", { ...byWorker, usages: ["client auth", "server auth"] }, "not those of a client"],
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
    { ...kubelet, subject: { ...kubelet.subject, organizations: ["system:masters"] } },
    "no kubelet",
  ],
  ["a kubelet of another name", { ...kubelet, subject: { ...kubelet.subject, commonName: "admin" } }, "no kubelet"],
  [
    "a name that is a path",
    { ...kubelet, subject: { ...kubelet.subject, commonName: "system:node:../a" } },
    "cannot name",
  ],
  [
    "a serving certificate by a token",
    { ...kubelet, signer: SIGNERS.serving, usages: ["server auth"], hosts: ["w"] },
    "another kubelet",
  ],
] as const)("%s is refused", ([, demand, words]) => {
  expect(judgeDemand(demand)).toEqual({ refused: expect.stringContaining(words) as string });
});

test("what is not of nodes is left for others to judge", () => {
  const person = { ...byWorker, subject: { commonName: "alice", organizations: ["developers"] } };
  expect(judgeDemand(person)).toBeUndefined();
  expect(judgeDemand({ ...kubelet, requester: { name: "system:node:w", groups: ["system:nodes"] } })).toBeUndefined();
});
