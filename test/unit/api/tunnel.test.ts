import { expect, test } from "vitest";
import { usesTunnel } from "../../../src/api/placement/tunnel.ts";
import { exampleContext, exampleShoot } from "../../support/control-plane-context.ts";

const annotated = <T extends { readonly metadata: object }>(object: T, said: string | undefined): T =>
  said === undefined
    ? object
    : { ...object, metadata: { ...object.metadata, annotations: { "perennial.dev/tunnel": said } } };

test.for<[string, string | undefined, string | undefined, boolean]>([
  ["neither it nor its Seed says anything", undefined, undefined, true],
  ["its Seed reaches its nodes", "false", undefined, false],
  ["its Seed says that there are tunnels", "true", undefined, true],
  ["it has one on a Seed that reaches other nodes", "false", "true", true],
  ["it needs none on a Seed that does not reach others' nodes", undefined, "false", false],
])("whether a Shoot has a tunnel where %s", ([, ofSeed, ofShoot, expected]) => {
  const { shoot, seed } = exampleContext();
  expect(usesTunnel(annotated(shoot, ofShoot), annotated(seed, ofSeed))).toBe(expected);
});

test("a Shoot without workers has no tunnel: there is nothing to reach", () => {
  const shoot = annotated(exampleShoot({ provider: { type: "local" } }), "true");
  expect(usesTunnel(shoot, exampleContext().seed)).toBe(false);
});
