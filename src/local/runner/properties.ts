import type { Manager } from "./manager.ts";
import { descriptionOf } from "./listing.ts";
import { enablementOf, findUnit } from "./unit-files.ts";
import { listed, type Flags } from "./words.ts";

/** What `show` answers of the units: all properties that the runner knows, or those asked for; a line for each. */
export function show(manager: Manager, names: readonly string[], { property, value }: Flags): string {
  const asked = listed(property);
  return names.map((name) => linesOf(propertiesOf(manager, name), asked, value === true)).join("\n");
}

/** What `status` answers of one unit, for people. */
export function describeUnit(manager: Manager, name: string): string {
  const { active, sub, mainPid, exitCode } = manager.stateOf(name);
  const facts = [
    `${name} - ${descriptionOf(name)}`,
    `   Loaded: ${findUnit(name)?.parts[0]?.path ?? "not-found"} (${enablementOf(name) ?? "not-found"})`,
    `   Active: ${active} (${sub})`,
    ...(mainPid === undefined ? [] : [` Main PID: ${mainPid}`]),
    ...(exitCode === undefined ? [] : [`   Result: exit code ${exitCode}`]),
    `     Logs: journalctl --unit ${name}`,
  ];
  return facts.map((line) => `${line}\n`).join("");
}

function propertiesOf(manager: Manager, name: string): Readonly<Record<string, string | number>> {
  const { active, sub, mainPid = 0, activeSince = 0, exitCode = 0 } = manager.stateOf(findUnit(name)?.name ?? name);
  return {
    ...fileProperties(name),
    ActiveState: active,
    SubState: sub,
    MainPID: mainPid,
    ExecMainStatus: exitCode,
    Result: active === "failed" ? "exit-code" : "success",
    ActiveEnterTimestampMonotonic: Math.round(activeSince * 1000),
  };
}

function fileProperties(name: string) {
  const [unit, enablement = ""] = [findUnit(name), enablementOf(name)];
  const found = unit === undefined ? "not-found" : "loaded";
  return {
    Id: unit?.name ?? name,
    Description: descriptionOf(name),
    LoadState: enablement === "masked" ? enablement : found,
    UnitFileState: enablement,
    FragmentPath: unit?.parts[0]?.path ?? "",
  };
}

/** A property that there is not has no line, as with systemd. */
function linesOf(all: Readonly<Record<string, string | number>>, asked: readonly string[], bare: boolean): string {
  const names = asked.length === 0 ? Object.keys(all) : asked.filter((name) => name in all);
  return names.map((name) => `${bare ? "" : `${name}=`}${all[name]}\n`).join("");
}
