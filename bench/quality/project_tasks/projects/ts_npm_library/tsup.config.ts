import { defineConfig } from 'tsup'
export default defineConfig({
  entry: ['src/index.ts', 'src/locale/*.ts'],
  format: ['esm', 'cjs'], dts: true, clean: true, treeshake: true, target: 'es2020',
})
