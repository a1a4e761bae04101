import { expect, it } from "vitest";
import { printList, printObject } from "../../../src/cli/display/output.ts";
import { renderYaml } from "../../../src/yaml.ts";
import { renderTable } from "../../../src/cli/display/table.ts";
import { formatAge, formatAgo, formatDuration, formatSince } from "../../../src/cli/display/time.ts";
import { fit } from "../../../src/cli/display/style.ts";
import { fakeOutput } from "./fake-terminal.ts";

const columns = [
  { title: "NAME", value: (row: Row) => row.name },
  { title: "SIZE", value: (row: Row) => row.size },
  { title: "NOTE", wide: true, value: (row: Row) => row.note },
];

interface Row {
  readonly name: string;
  readonly size?: number;
  readonly note?: string;
}

const rows: Row[] = [{ name: "oak", size: 12, note: "old" }, { name: "hornbeam" }];

it("the output lines columns up as kubectl does, with <none> for what is missing", () => {
  expect(renderTable(rows, columns.slice(0, 2))).toBe("NAME       SIZE\noak        12\nhornbeam   <none>\n");
});

it("the output shows wide columns with -o wide only", () => {
  const list = (format: "wide" | undefined) => {
    const out = fakeOutput();
    printList(out, rows, { format, columns, name: (row) => row.name });
    return out.text().split("\n")[0];
  };
  expect(list(undefined)).toBe("NAME       SIZE");
  expect(list("wide")).toBe("NAME       SIZE     NOTE");
});

it("the output prints a Kubernetes List as JSON, and names with -o name", () => {
  const out = fakeOutput();
  printList(out, rows, { format: "json", columns, name: (row) => row.name });
  expect(JSON.parse(out.text())).toEqual({ apiVersion: "v1", kind: "List", items: rows });
  const names = fakeOutput();
  printList(names, rows, { format: "name", columns, name: (row) => `tree/${row.name}` });
  expect(names.text()).toBe("tree/oak\ntree/hornbeam\n");
});

it("the output leaves managed fields out", () => {
  const out = fakeOutput();
  printObject(out, { metadata: { name: "oak", managedFields: [{ manager: "kubectl" }] } }, "yaml");
  expect(out.text()).toBe("metadata:\n  name: oak\n");
});

it("the output quotes what Go's YAML reader would take for something else than a text", () => {
  expect(renderYaml({ a: "yes", b: "0777", c: "on" })).toBe('a: "yes"\nb: "0777"\nc: "on"\n');
});

it.each([
  [0, "0s"],
  [119_000, "119s"],
  [312_000, "5m12s"],
  [600_000, "10m"],
  [4 * 3_600_000, "4h"],
  [5 * 3_600_000 + 60_000, "5h1m"],
  [30 * 3_600_000, "30h"],
  [50 * 3_600_000, "2d2h"],
  [30 * 86_400_000, "30d"],
  [800 * 86_400_000, "2y"],
])("the output writes %i ms as kubectl would: %s", (milliseconds, text) => {
  expect(formatDuration(milliseconds)).toBe(text);
});

it("the output does not invent an age", () => {
  expect(formatAge(undefined, 0)).toBe("<unknown>");
});

it("what has just begun lasts for less than a second, and what has just ended did so just now", () => {
  const time = "2026-11-21T10:00:00Z";
  const now = Date.parse(time);
  expect(formatSince(time, now + 999)).toBe(`for less than a second (since ${time})`);
  expect(formatSince(time, now + 72_000)).toBe(`for 72s (since ${time})`);
  expect(formatAgo(time, now)).toBe(`just now (${time})`);
  expect(formatAgo(time, now + 72_000)).toBe(`72s ago (${time})`);
  expect(formatAgo(undefined, now)).toBe("<unknown>");
});

it("the output marks the end of a line that was cut", () => {
  expect(fit("hornbeam", 5)).toBe("horn…");
  expect(fit("oak", 5)).toBe("oak");
});
