export default { testEnvironment: "node", transform: {}, testTimeout: 20000 };
