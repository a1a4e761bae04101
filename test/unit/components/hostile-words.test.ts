import { expect, test } from "vitest";
import { commandLine, literal, unitCommand } from "../../../src/components/command-line.ts";
import { operatingSystemConfigs } from "../../../src/components/index.ts";
import { expandCommand, parseUnit } from "../../../src/local/machine/unit.ts";
import { exampleContext } from "../../support/control-plane-context.ts";
import { hostileWords } from "../../support/hostile-words.ts";

const printable = hostileWords.filter((word) => !word.includes("\u0000"));

// Admission refuses such words; what is written of them has to hold all the same.
test.each(printable)("%j in a flag of a unit is one word, and no line of its own", (word) => {
  const command = unitCommand("/bin/a", { before: 1, label: word, after: 2 });
  const unit = parseUnit("a.service", `[Service]\nExecStart=${command}\nRestart=always\n`);
  expect(expandCommand(unit.start, { HOME: "/root" })).toEqual([
    "/bin/a",
    "--before=1",
    `--label=${word}`,
    "--after=2",
  ]);
  expect(unit).toMatchObject({ startPre: [], restart: "always" });
});

test("what a unit cannot hold is not written", () => {
  expect(() => unitCommand("/bin/a", { label: "a\u0000b" })).toThrow("has a control character");
});

test.each(printable)("%j among a pool's labels changes nothing but one argument of its kubelet", (word) => {
  const argumentsWith = (label: string) => {
    const context = exampleContext();
    const [pool] = context.shoot.spec.provider.workers ?? [];
    if (pool === undefined) throw new Error("the example has no pool");
    const [, { spec } = { spec: undefined }] = operatingSystemConfigs(context, { ...pool, labels: { zz: label } });
    const { content = "" } = spec?.units?.find(({ name }) => name === "kubelet.service") ?? {};
    const unit = parseUnit("kubelet.service", content);
    return { unit, words: expandCommand(unit.start, { HOME: "/root" }) };
  };
  const [tame, hostile] = [argumentsWith("tame"), argumentsWith(word)];
  expect(hostile.words.map((one) => one.replace(`zz=${word}`, "zz=tame"))).toEqual(tame.words);
  expect({ ...hostile.unit, start: undefined }).toEqual({ ...tame.unit, start: undefined });
});

test.each(["$(POD_IP)", "$$(POD_IP)", "$"])("Kubernetes puts nothing in the place of %j in a command", (word) => {
  const [, flag = ""] = commandLine("a", { label: literal(word) });
  // What the kubelet does to a command: `$$` is `$`, `$(NAME)` is a variable.
  const expanded = flag.replaceAll(/\$\$|\$\((\w+)\)/g, (_, name?: string) => (name === undefined ? "$" : "EXPANDED"));
  expect(expanded).toBe(`--label=${word}`);
});
