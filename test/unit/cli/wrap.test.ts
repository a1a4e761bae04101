import { expect, it } from "vitest";
import { renderTable } from "../../../src/cli/display/table.ts";
import { wrap } from "../../../src/cli/display/wrap.ts";
import { renderFields } from "../../../src/cli/display/fields.ts";

it("wrapped text breaks between words, and indents what follows", () => {
  expect(wrap("the quick brown fox jumps over the lazy dog", 24, 4)).toBe(
    "the quick brown fox\n    jumps over the lazy\n    dog",
  );
});

it("wrapped text breaks long lists behind their commas, and nothing else within words", () => {
  expect(wrap("migrateWorker,migrateNetwork,migrateInfrastructure", 30)).toBe(
    "migrateWorker,migrateNetwork,\nmigrateInfrastructure",
  );
  expect(wrap(`${"x".repeat(50)} and more`, 30)).toBe(`${"x".repeat(50)}\nand more`);
});

it("wrapped text keeps a command in one line, so that it can be copied", () => {
  const text = "mend the cause, then: perennial shoot retry garden-dev/local --step etcd";
  expect(wrap(text, 60)).toBe("mend the cause, then:\nperennial shoot retry garden-dev/local --step etcd");
  expect(wrap("It is let go on by: kill -CONT 4711", 32)).toBe("It is let go on by:\nkill -CONT 4711");
  const patch = `kubectl -n x patch shoot y -p '{"spec": {"hibernation": null}}'`;
  expect(wrap(`to wake it up: ${patch}`, 32)).toBe(`to wake it up:\n${patch}`);
  expect(wrap("it does not exist: see 'perennial shoot list'", 32)).toBe(
    "it does not exist: see\n'perennial shoot list'",
  );
  expect(wrap(text, 30)).toBe("mend the cause, then:\nperennial shoot retry garden-dev/local --step etcd");
});

it("wrapped text stays as it was where there is no width, or hardly any, or room enough", () => {
  const text = "the quick brown fox jumps over the lazy dog";
  expect([wrap(text, undefined), wrap(text, 100), wrap(text, 30, 25)]).toEqual([text, text, text]);
});

it("wrapped text keeps a table's last column under itself", () => {
  const rows = [
    { step: "flip", after: "persistState,destinationSecrets,destinationImages" },
    { step: "check", after: "" },
  ];
  const columns = [
    { title: "STEP", value: (row: (typeof rows)[number]) => row.step },
    { title: "AFTER", value: (row: (typeof rows)[number]) => row.after },
  ];
  expect(renderTable(rows, columns, 42)).toBe(
    [
      "STEP    AFTER",
      "flip    persistState,destinationSecrets,",
      "        destinationImages",
      "check   <none>",
      "",
    ].join("\n"),
  );
  expect(renderTable(rows, columns)).toContain("persistState,destinationSecrets,destinationImages\n");
});

it("lines of a field are wrapped each by itself", () => {
  const lines = renderFields({ Next: "one two three\nfour five six seven eight" }, 30);
  expect(lines).toEqual(["Next:  one two three", "       four five six seven", "       eight"]);
});
