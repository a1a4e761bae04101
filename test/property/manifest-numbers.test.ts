import fc from "fast-check";
import { expect, test } from "vitest";
import { parseManifests, renderManifests } from "../../src/activities/installation/manifests.ts";

const scalar = async (text: string): Promise<string> => {
  const manifest = `apiVersion: v1\nkind: Limit\nmetadata: { name: one }\nspec: { limits: [${text}] }\n`;
  return /"limits":\[(.*?)\]/.exec(renderManifests(await parseManifests(manifest)))?.[1] ?? "";
};

test("every integer of a manifest keeps its digits", () =>
  fc.assert(
    fc.asyncProperty(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }), async (integer) => {
      expect(await scalar(integer.toString())).toBe(integer.toString());
    }),
  ));

test("every other number of a manifest keeps its value, however it is written", () =>
  fc.assert(
    fc.asyncProperty(
      fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Number.isInteger(number)),
      fc.constantFrom<(number: number) => string>(String, (number) => number.toExponential()),
      async (number, write) => {
        expect(Number(await scalar(write(number)))).toBe(Number(write(number)));
      },
    ),
  ));
