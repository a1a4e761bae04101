import proto from "@temporalio/proto";
import type { Service, Type } from "protobufjs";

/** The messages of Temporal's frontend, as the SDK of this version knows them. Decoding drops the fields that it does not know. */
export const { v1: messages } = proto.temporal.api.workflowservice;

/** A length of time in a message. */
export const { Duration } = proto.google.protobuf;

/** The paths of all methods that the gateway passes on for the garden; none of them streams. */
export const methods: readonly string[] = [
  ...pathsOf("temporal.api.workflowservice.v1.WorkflowService", messages.WorkflowService),
  ...pathsOf("temporal.api.operatorservice.v1.OperatorService", proto.temporal.api.operatorservice.v1.OperatorService),
  "/grpc.health.v1.Health/Check",
];

/** The paths of the methods that wait for a task. */
export const polls: ReadonlySet<string> = new Set(methods.filter((path) => path.includes("/Poll")));

/** The path of a method of Temporal's own service. */
export const workflowMethod = (name: string): string => `/temporal.api.workflowservice.v1.WorkflowService/${name}`;

/** The fields of a message's class, by which it is encoded. */
export const typeOf = (message: object): Type => message as Type;

/** The classes that the package exports are those of protobufjs' reflection, which its types don't say. */
function pathsOf(service: string, exported: unknown): string[] {
  return (exported as Service).methodsArray.map(({ name }) => `/${service}/${name}`);
}
