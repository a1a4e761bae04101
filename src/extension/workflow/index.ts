/** An actuator whose functions are Temporal workflows: `perennial/extension/workflow`, for those who use Temporal. */
export { createWorkflowActuator, type WorkflowActuatorOptions } from "./actuator.ts";
export type { WorkflowCall, WorkflowRequest } from "./request.ts";
