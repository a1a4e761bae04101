import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { versions } from "../../../src/local/binary/versions.ts";
import { flagsOf, frugal } from "../../../src/local/process/own-processes.ts";

const root = join(import.meta.dirname, "../../..");
const dockerfile = readFileSync(join(root, "deploy/Dockerfile"), "utf8");

test("the image runs the Node that checkouts run", () => {
  const version = /^ARG NODE_IMAGE=node:([\d.]+)-/m.exec(dockerfile)?.[1];
  expect(version).toBe(process.versions.node);
});

test("the image has the Helm that charts are tried with", () => {
  expect(dockerfile).toContain(`helm.sh/helm/v4/cmd/helm@v${versions.helm}`);
});

test("what is copied into the image is not kept out of its context", () => {
  const kept = readFileSync(join(root, ".dockerignore"), "utf8").split("\n");
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, names = ""]) => names.split(" "));
  expect(copied).not.toEqual([]);
  for (const name of copied) expect(kept).toContain(`!${name}`);
});

test("processes keep as little memory in the image as in a local environment", () => {
  const [, entrypoint = "[]"] = /^ENTRYPOINT (.*)$/m.exec(dockerfile) ?? [];
  expect(JSON.parse(entrypoint)).toEqual(expect.arrayContaining([...frugal.flags]));
  const settings = Object.fromEntries(
    [...dockerfile.matchAll(/^ENV (\w+)=(\S+)$/gm)].map(([, name, value]) => [name, value]),
  );
  expect(settings).toMatchObject(frugal.env);
});

test.each(Object.entries(flagsOf))(
  "process %s has the flags of a local environment where it is deployed, too",
  (folder, flags) => {
    const manifest = readFileSync(join(root, `deploy/${folder}/process.yaml`), "utf8");
    const container = parseAllDocuments(manifest)
      .map((document) => document.toJS() as Workload)
      .flatMap(({ spec }) => spec?.template?.spec.containers ?? [])
      .find(({ args }) => args.includes(`dist/${folder}/main.js`));
    expect(container?.args).toEqual([...flags, `dist/${folder}/main.js`]);
  },
);

test("the image does not run as root", () => {
  expect(dockerfile).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m);
});

interface Workload {
  readonly spec?: {
    readonly template?: { readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] } };
  };
}
