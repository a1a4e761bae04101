import { counted } from "../../api/counted.ts";
import { ControllerDeployment } from "../../api/core/controller-deployment.ts";
import { ControllerRegistration } from "../../api/core/controller-registration.ts";
import { ShootState } from "../../api/shoot/state.ts";
import { ConfigMap, Secret } from "../../kube/index.ts";
import { nameOf } from "../configuration/fault.ts";
import type { DifferingField } from "./difference.ts";
import type { FileChange } from "./plan.ts";

/** Kinds that hold credentials, or may: of these, fields are named and values are not. */
const CONFIDENTIAL = [Secret, ConfigMap, ShootState, ControllerDeployment, ControllerRegistration].map(
  ({ kind }) => kind,
);

/** How many fields of a file are said, and in characters how much of a value. */
const MOST_FIELDS = 8;
const LONGEST_VALUE = 60;

/** What becomes of each file: a line, and under it one for each field that differs. */
export const reportChanges = (changes: readonly FileChange[]): string => changes.map(reportChange).join("");

/** How many files were written, and why none, in one sentence without a full stop. */
export function summarize(changes: readonly FileChange[]): string {
  const number = (is: FileChange["is"]) => changes.filter((change) => change.is === is).length;
  const needed = counted(changes.length - number("unneeded"), "object");
  const written = [`${number("added")} added`, `${number("changed")} changed`];
  return `${needed} (${[...written, `${number("unchanged")} unchanged`, `${number("kept")} of your own`].join(", ")})`;
}

function reportChange({ is, file, object, fields }: FileChange): string {
  const line = `${words[is].padEnd(16)} ${safe(file)} (${nameOf(object)})${endings[is]?.(fields) ?? ""}\n`;
  const showsValues = !CONFIDENTIAL.includes(object.kind);
  const shown = fields.slice(0, MOST_FIELDS).map((field) => reportField(field, showsValues));
  const more = fields.length - MOST_FIELDS;
  return [line, ...shown, ...(more > 0 ? [`  and ${counted(more, "field")} more\n`] : [])].join("");
}

const words = {
  added: "added",
  changed: "changed",
  unchanged: "unchanged",
  kept: "your own",
  unneeded: "no longer needed",
} as const;

type Ending = (fields: readonly DifferingField[]) => string;

const endings: { readonly [is in FileChange["is"]]?: Ending } = {
  changed: () => ":",
  kept: (fields) => (fields.length === 0 ? "" : " is not as in the garden, and stays:"),
  unneeded: () => ": remove it, unless something else needs it",
};

function reportField({ field, before, after }: DifferingField, showsValues: boolean): string {
  const values = showsValues ? `: ${inWords(before)} -> ${inWords(after)}` : "";
  return `  ${safe(field)}${values}\n`;
}

function inWords(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}

const safe = (text: string): string => text.replaceAll(/\p{Cc}/gu, "?");
