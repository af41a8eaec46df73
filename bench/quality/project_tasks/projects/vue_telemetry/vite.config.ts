import { defineConfig } from 'vite'
import vue from '@vitejs/plugin-vue'
export default defineConfig({ plugins: [vue()], resolve: { alias: { '@': '/src' } }, server: { proxy: { '/ws': { target: 'ws://localhost:9001', ws: true } } } })
