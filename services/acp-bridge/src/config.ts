import { folderList } from '@jetloop/platform';

/** Settings of the bridge's process, beside the common ones. */
export const configShape = {
  JETLOOP_WORKSPACE_ROOTS: folderList,
};
