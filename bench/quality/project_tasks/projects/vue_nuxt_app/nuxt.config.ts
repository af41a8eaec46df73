export default defineNuxtConfig({
  devtools: { enabled: true },
  modules: ['@pinia/nuxt', '@nuxtjs/i18n', '@nuxt/image', '@nuxt/content', '@vueuse/nuxt', '@nuxt/eslint'],
  i18n: { locales: ['en', 'de', 'it'], defaultLocale: 'en' },
  css: ['~/assets/scss/main.scss'],
})
