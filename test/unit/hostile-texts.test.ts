import { expect, test } from "vitest";
import { keepTrust } from "../../src/cluster-api/endpoint/trust.ts";
import { parseForeignKubeconfig, parseKubeconfig } from "../../src/kube/kubeconfig.ts";
import { refusalError } from "../../src/kube/refusal.ts";
import { parseYaml } from "../../src/parsing.ts";
import { withoutSecrets } from "../../src/redaction.ts";
import { processorTime } from "../support/processor-time.ts";

const kubeconfigOf = (server: string): string =>
  JSON.stringify({
    "current-context": "a",
    contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
    clusters: [{ name: "a", cluster: { server } }],
    users: [{ name: "a", user: {} }],
  });

const said = (status: number, message: string) => refusalError("apply", { status, body: { message }, server: "s" });

const readers: Readonly<Record<string, (length: number) => unknown>> = {
  "beginnings of tokens in what is logged": (length) => withoutSecrets("-eyJ".repeat(length / 4)),
  "parts of tokens in what is logged": (length) => withoutSecrets("eyJa.".repeat(length / 5)),
  "beginnings of PEM in what is logged": (length) => withoutSecrets("-----BEGIN a".repeat(length / 12)),
  "slashes in the server of a kubeconfig": (length) => parseKubeconfig(kubeconfigOf(`https://a${"/".repeat(length)}x`)),
  "keys of one map of YAML": (length) =>
    parseYaml(Array.from({ length: length / 4 }, (_, n) => `${n}a:`).join("\n"), "x"),
  "beginnings of a refusal for a wrong field": (length) => said(500, "failed to create ".repeat(length / 17)),
};

test.each(Object.entries(readers))(
  "sixteen times as many %s take no more than some forty times the time",
  async (_, read) => {
    const [short, long] = [await costOf(() => read(SHORT)), await costOf(() => read(16 * SHORT))];
    expect(long).toBeLessThan(40 * short + NOISE);
  },
);

/** In characters. What takes this squared takes seconds. */
const SHORT = 4_000;

/** In ms of CPU. */
const NOISE = 100;

/** In ms of CPU of this thread: the best of several counts, as what is compiled at first costs as well. */
async function costOf(work: () => unknown): Promise<number> {
  const counts = [await processorTime(work), await processorTime(work), await processorTime(work)];
  return Math.min(...counts);
}

test("a JSON Web Token is left out wherever it stands in a word, and nothing beside it", () => {
  const token = "eyJhbGciOiJSUzI1NiJ9.eyJhIjoxfQ.s-_";
  expect(withoutSecrets(`a ${token} b`)).toBe("a [redacted] b");
  expect(withoutSecrets(`x-${token}.more.${token}`)).toBe("x-[redacted].more.[redacted]");
  expect(withoutSecrets("eyJhbGciOiJSUzI1NiJ9.eyJhIjoxfQ.")).toBe("[redacted]");
  expect(withoutSecrets("eyJa.b greyJa.b.c eyJa..c")).toBe("eyJa.b greyJa.b.c eyJa..c");
});

test("an error has the first 16,384 characters of what an API server says, and 100 causes", () => {
  const causes = Array.from({ length: 200 }, () => ({ field: "a" }));
  const error = refusalError("apply", {
    status: 422,
    body: { message: "x".repeat(100_000), details: { causes } },
    server: "s",
  });
  expect(error.message).toHaveLength("cannot apply: ".length + 16_384);
  expect(error.causes).toHaveLength(100);
});

test("an answer that is no Status of Kubernetes' makes an error like any other", () => {
  const body = { reason: 1, message: ["x"], details: { causes: {} } };
  expect(refusalError("apply", { status: 409, body, server: "s" })).toMatchObject({
    ...{ message: "cannot apply: HTTP 409", reason: "", causes: [] },
  });
});

test("a kubeconfig of others that is longer than any is not read", () => {
  const ca = Buffer.from("CA").toString("base64");
  const long = { ...JSON.parse(kubeconfigOf("https://a")), extensions: "x".repeat(300_000) } as Record<string, unknown>;
  long["clusters"] = [{ name: "a", cluster: { server: "https://a", "certificate-authority-data": ca } }];
  expect(() => parseForeignKubeconfig(JSON.stringify(long))).toThrow(/longer than 262144 characters/);
  const trustOf = (content: object) => {
    const data = { value: Buffer.from(JSON.stringify(content)).toString("base64") };
    return keepTrust({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "a-kubeconfig", namespace: "b" },
      data,
    }).trust;
  };
  expect(trustOf({ ...long, extensions: "" })).toMatchObject({ ca: "CA" });
  expect(trustOf(long)).toBeUndefined();
});
