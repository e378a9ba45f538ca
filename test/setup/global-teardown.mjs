import { stopTestRun } from './global-setup.mjs';

export default stopTestRun;
