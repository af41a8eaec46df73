export default defineNuxtConfig({
  modules: ['@pinia/nuxt', '@nuxtjs/tailwindcss', '@storyblok/nuxt', '@nuxt/image', '@nuxtjs/sitemap', '@vueuse/nuxt', '@nuxt/eslint'],
  storyblok: { accessToken: process.env.STORYBLOK_TOKEN },
  routeRules: { '/': { swr: 300 }, '/articles/**': { isr: 600 }, '/account/**': { ssr: false } },
  typescript: { strict: true },
})
