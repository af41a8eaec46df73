import { defineConfig } from 'astro/config';
import starlight from '@astrojs/starlight';
import sitemap from '@astrojs/sitemap';
import linksValidator from 'starlight-links-validator';

export default defineConfig({
  site: 'https://docs.relaykit.dev',
  integrations: [
    starlight({
      title: 'RelayKit',
      plugins: [linksValidator()],
      sidebar: [
        { label: 'Start', autogenerate: { directory: 'start' } },
        { label: 'Guides', autogenerate: { directory: 'guides' } },
      ],
    }),
    sitemap(),
  ],
});
