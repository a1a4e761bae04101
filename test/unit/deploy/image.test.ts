import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { versions } from "../../../src/local/binary/versions.ts";
import { frugal } from "../../../src/local/process/own-processes.ts";

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

test("the image does not run as root", () => {
  expect(dockerfile).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m);
});
