export { catalogueOf, CatalogueError } from './catalogue/catalogue.js';
export type { Catalogue, CatalogueInput, Target } from './catalogue/catalogue.js';
export { parseCatalogue } from './catalogue/load-catalogue.js';
export { readLlmRouterLimits } from './config.js';
export type { LlmRouterLimits } from './config.js';
export { LlmRouterModule } from './llm-router.module.js';
