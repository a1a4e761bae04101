import type { DNSRecord } from "../../src/api/index.ts";
import { createExtensionController, type ExtensionController } from "../../src/extension/index.ts";
import type { LocalEnvironment } from "./local-environment.ts";

/** An extension controller for DNSRecords of one type, whose answers a test decides while it runs. */
export interface ScriptedExtension extends ExtensionController {
  /** From now on every operation fails with this; with nothing, every operation succeeds. */
  answer(error?: Error): void;
  /** The operation ids (`gardener.cloud/timestamp`) that it was asked to act on, in order, each once. */
  readonly asked: readonly string[];
}

/** Makes the controller; it answers nobody before it is started. */
export function createScriptedExtension({ seedClient, log }: LocalEnvironment, type: string): ScriptedExtension {
  const asked: string[] = [];
  let failure: Error | undefined;
  const act = async ({ metadata }: DNSRecord): Promise<void> => {
    const id = metadata.annotations?.["gardener.cloud/timestamp"] ?? "";
    if (!asked.includes(id)) asked.push(id);
    if (failure !== undefined) throw failure;
  };
  const remove = async (): Promise<void> => undefined;
  const actuator = { reconcile: act, restore: act, delete: remove, migrate: remove };
  const controller = createExtensionController({ client: seedClient, kind: "DNSRecord", type, actuator, log });
  return { ...controller, asked, answer: (error) => void (failure = error) };
}
