import { defineConfig } from '@playwright/test';
export default defineConfig({ testDir: './tests', retries: 2, use: { baseURL: 'http://localhost:3000' }, webServer: { command: 'pnpm dev', url: 'http://localhost:3000/ping' } });
