/** What every provider accepts as a tool's name. */
export const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
