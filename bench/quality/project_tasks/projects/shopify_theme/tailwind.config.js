module.exports = {
  content: ['./layout/*.liquid', './sections/*.liquid', './snippets/*.liquid', './templates/**/*.{liquid,json}', './assets/*.js'],
  theme: { extend: { colors: { leaf: '#3f6b4a', soil: '#5b4636' } } },
  plugins: [require('@tailwindcss/forms')],
};
