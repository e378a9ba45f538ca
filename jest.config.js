const suite = (name, extra = {}) => ({
  displayName: name,
  rootDir: import.meta.dirname,
  testMatch: [
    `<rootDir>/{libs,services,test}/**/*.${{ unit: 'unit', integration: 'int', e2e: 'e2e', recorded: 'rec', peers: 'peer' }[name]}.spec.ts`,
  ],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  modulePathIgnorePatterns: ['/dist/'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': '@swc/jest' },
  testEnvironment: 'node',
  ...extra,
});
const libs = ['contracts', 'session', 'messaging', 'client', 'persistence', 'platform', 'testing'];
const onServers = {
  globalSetup: '<rootDir>/test/setup/global-setup.mjs',
  globalTeardown: '<rootDir>/test/setup/global-teardown.mjs',
};
const withAliases = (project) => ({
  ...project,
  moduleNameMapper: {
    '^@jetloop/messaging/nest$': '<rootDir>/libs/messaging/src/nest.ts',
    [`^@jetloop/(${libs.join('|')})$`]: '<rootDir>/libs/$1/src/index.ts',
    '^@jetloop/([a-z-]+)$': '<rootDir>/services/$1/src/index.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
});

export default {
  maxWorkers: 2,
  testSequencer: '<rootDir>/test/setup/slow-first.mjs',
  testTimeout: 60_000,
  projects: [
    suite('unit'),
    suite('integration', onServers),
    suite('e2e', onServers),
    suite('recorded', onServers),
    suite('peers', onServers),
  ].map(withAliases),
};
