import { CONFIRM_DELETION_ANNOTATION, TIMESTAMP_ANNOTATION } from "../../api/annotations.ts";
import { contractOf } from "../../api/extensions/kinds.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { inWords, refOf, type KubeClient } from "../../kube/index.ts";
import { StepError } from "../step-error.ts";
import { poll } from "../poll.ts";
import { removeAnnotated } from "../teardown/removal.ts";
import type { ExtensionLike } from "../waits/readiness.ts";

/**
 * The object that is there and can become the wanted one; undefined where there is none. A DNSRecord never changes its
 * type: one of another type is deleted first, and with it the name in the DNS. Throws a {@link StepError} when it is not
 * gone after `timeout` ms; called again, it goes on from there.
 */
export async function readChangeable(
  seedClient: KubeClient,
  wanted: ExtensionLike,
  timeout = contractOf("DNSRecord").deadline,
): Promise<ExtensionLike | undefined> {
  const ref = refOf(wanted);
  const existing = await seedClient.read(ref);
  const [before, type] = [recordTypeOf(existing), recordTypeOf(wanted)] as const;
  if (existing === undefined || before === type) return existing;
  await confirmAndRemove(seedClient, existing, {});
  await poll({ timeout, period: 500 }, async () => {
    const left = await seedClient.read(ref);
    if (left === undefined) return undefined;
    const { description = "its controller has not answered", codes = [] } = left.status?.lastError ?? {};
    const message = `cannot make ${inWords(ref)} anew as ${type}: the one of type ${before} is not gone: ${description}`;
    return new StepError(message, codes as StepError["codes"]);
  });
  return undefined;
}

/** Says that the deletion is meant, as Gardener asks for, and deletes the object. */
export async function confirmAndRemove(
  seedClient: KubeClient,
  object: KubeObject,
  annotations: Readonly<Record<string, string>>,
): Promise<void> {
  const confirmed = {
    ...annotations,
    [CONFIRM_DELETION_ANNOTATION]: "true",
    [TIMESTAMP_ANNOTATION]: new Date().toISOString(),
  };
  await removeAnnotated(seedClient, object, confirmed);
}

const recordTypeOf = (object: KubeObject | undefined): string =>
  (object?.["spec"] as { recordType?: string } | undefined)?.recordType ?? "";
