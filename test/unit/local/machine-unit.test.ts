import { expect, test } from "vitest";
import { expandCommand, parseEnvironmentFile, parseUnit } from "../../../src/local/machine/unit.ts";

test("a command may go over several lines, be quoted and have comments between its lines", () => {
  const unit = parseUnit(
    "kubelet.service",
    `[Unit]
Description=kubelet
[Service]
ExecStartPre=-/bin/false 100%%
ExecStart=/opt/bin/kubelet --config=/etc/k.yaml \\
  # the address is the machine's
  --node-ip=10.0.0.1 "--labels=a=b c" 'single $X' escaped\\ blank
Restart=always
RestartSec=1min 30s
`,
  );
  expect(unit.start.words).toEqual([
    "/opt/bin/kubelet",
    "--config=/etc/k.yaml",
    "--node-ip=10.0.0.1",
    "--labels=a=b c",
    "single $X",
    "escaped blank",
  ]);
  expect(unit.startPre).toEqual([{ words: ["/bin/false", "100%"], mayFail: true }]);
  expect(unit).toMatchObject({ restart: "always", restartDelay: 90_000, oneshot: false });
});

test("an empty assignment forgets those before it, as drop-ins need", () => {
  const unit = parseUnit(
    "a.service",
    "[Service]\nExecStart=/bin/old\n\n[Service]\nExecStart=\nExecStart=/bin/new --flag\n",
  );
  expect(unit.start.words).toEqual(["/bin/new", "--flag"]);
});

test("variables are filled in as systemd does", () => {
  const unit = parseUnit(
    "a.service",
    'ExecStart=/bin/x ${ONE}/${NONE} $MANY "$MANY" $$HOME a$MANY\nEnvironment="ONE=1 1" MANY=b\\ c',
  );
  expect(unit.environment).toEqual({ ONE: "1 1", MANY: "b c" });
  expect(expandCommand(unit.start, unit.environment)).toEqual([
    "/bin/x",
    "1 1/",
    "b",
    "c",
    "b",
    "c",
    "$HOME",
    "a$MANY",
  ]);
});

test("an environment file has comments and quotes", () => {
  expect(parseEnvironmentFile("# comment\nA=1\nB=\"two words\"\n\nC='x=y'\n")).toEqual({
    A: "1",
    B: "two words",
    C: "x=y",
  });
});

test("a unit that starts nothing is refused by name", () => {
  expect(() => parseUnit("x.service", "[Service]\n")).toThrow("cannot use unit x.service: it has no ExecStart");
});
