import { expect, test } from "vitest";
import { parseJson, parseYaml } from "../../src/parsing.ts";

const thrownBy = (parse: () => unknown): unknown => {
  try {
    return parse();
  } catch (error) {
    return error;
  }
};

test("what can be parsed is parsed", () => {
  expect(parseJson('{"a":1}', "it")).toEqual({ a: 1 });
  expect(parseYaml("a: yes\nb: 0777", "it")).toEqual({ a: true, b: 511 }); // as YAML 1.1 has it
});

test.each([
  ["JSON", () => parseJson("token: S3CRET", "the Secret"), "the Secret is not JSON"],
  ["YAML", () => parseYaml("a: 1\ntoken: [S3CRET", "the Secret"), /^the Secret is not YAML: see line 2, column \d+$/],
  ["YAML with a bad escape", () => parseYaml('token: "S3CRET \\q"', "the Secret"), /^the Secret is not YAML/],
])("an error of %s quotes nothing, nor does its cause", (_, parse, message) => {
  const error = thrownBy(parse);
  expect(error).toMatchObject({ name: "SyntaxError", message: expect.stringMatching(message) });
  expect((error as Error).cause).toBeUndefined();
  expect((error as Error).stack).not.toContain("S3CRET");
});
