import type { Config } from 'tailwindcss'
export default { theme: { extend: { fontFamily: { serif: ['Lora', 'serif'] } } } } satisfies Partial<Config>
