/** How many calls run at once on this runner. */
export interface CallLimitOptions {
  /** Of one tenant; default: no limit but the runner's slots. */
  readonly tenantLimit?: number;
  /** Of one tenant's calls of a tool, by its name. */
  readonly toolLimits?: Readonly<Record<string, number>>;
}

export type Admission =
  { readonly admitted: true; readonly release: () => void } | { readonly admitted: false; readonly reason: string };

/** Keeps one tenant's slow calls from taking all slots (spec 8.5): what is over a limit is to come back later. */
export class CallLimits {
  readonly #running = new Map<string, number>();

  constructor(private readonly options: CallLimitOptions) {}

  admit(tenant: string, tool: string): Admission {
    const { tenantLimit = Infinity, toolLimits = {} } = this.options;
    const bounds: [string, number, string][] = [
      [tenant, tenantLimit, `the tenant has ${tenantLimit} calls running`],
      [
        `${tenant} ${tool}`,
        toolLimits[tool] ?? Infinity,
        `the tenant has ${toolLimits[tool] ?? 0} calls of ${tool} running`,
      ],
    ];
    const reached = bounds.find(([key, most]) => (this.#running.get(key) ?? 0) >= most);
    if (reached) return { admitted: false, reason: reached[2] };
    for (const [key] of bounds) this.#running.set(key, (this.#running.get(key) ?? 0) + 1);
    return {
      admitted: true,
      release: () => {
        for (const [key] of bounds) this.#leave(key);
      },
    };
  }

  #leave(key: string): void {
    const left = (this.#running.get(key) ?? 1) - 1;
    if (left === 0) this.#running.delete(key);
    else this.#running.set(key, left);
  }
}
