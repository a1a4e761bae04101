/** The Quotas of a binding stay what they were when it was created: later its author could leave them out, or name another project's. */
export const quotasStay = {
  rule: "(has(self.quotas) ? self.quotas : []) == (has(oldSelf.quotas) ? oldSelf.quotas : [])",
  message: "quotas cannot be changed: create another binding",
  fieldPath: ".quotas",
} as const;
