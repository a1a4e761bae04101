import { expect, test } from "vitest";
import {
  bootstrapTokenSecret,
  generateBootstrapToken,
  matchBootstrapToken,
  readBootstrapTokenSecret,
  renderBootstrapToken,
} from "../../../src/kube/bootstrap-token.ts";

const token = { id: "abcdef", secret: "0123456789abcdef" };

test("a drawn token is well shaped, and any character of the alphabet may be in it", () => {
  const drawn = Array.from({ length: 500 }, () => renderBootstrapToken(generateBootstrapToken()));
  for (const text of drawn) expect(renderBootstrapToken(matchBootstrapToken(text) ?? token)).toBe(text);
  expect(new Set(drawn.join("")).size).toBe(26 + 10 + 1);
});

test("the Secret of a token says what kube-apiserver and its controllers read", () => {
  const secret = bootstrapTokenSecret(token, {
    description: "Lets nodes join.",
    expiresAt: Date.parse("2026-11-24T10:00:00.999Z"),
    groups: ["system:bootstrappers:a", "system:bootstrappers:b"],
    signsClusterInfo: true,
  });
  expect(secret).toMatchObject({
    metadata: { namespace: "kube-system", name: "bootstrap-token-abcdef" },
    type: "bootstrap.kubernetes.io/token",
  });
  expect(readBootstrapTokenSecret(secret)).toEqual({
    "token-id": "abcdef",
    "token-secret": "0123456789abcdef",
    description: "Lets nodes join.",
    expiration: "2026-11-24T10:00:00Z",
    "usage-bootstrap-authentication": "true",
    "usage-bootstrap-signing": "true",
    "auth-extra-groups": "system:bootstrappers:a,system:bootstrappers:b",
  });
});

test("the Secret of a token that only lets one machine in names no groups, and proves no authority", () => {
  const content = readBootstrapTokenSecret(bootstrapTokenSecret(token, { description: "", expiresAt: 0 }));
  expect(Object.keys(content)).toEqual([
    "token-id",
    "token-secret",
    "description",
    "expiration",
    "usage-bootstrap-authentication",
  ]);
});

test("a Secret without data says nothing of a token", () => {
  expect(readBootstrapTokenSecret({})).toEqual({});
});
