export { catalogueOf, CatalogueError } from './catalogue/catalogue.js';
export type { Catalogue, CatalogueInput, Target } from './catalogue/catalogue.js';
export { parseCatalogue } from './catalogue/load-catalogue.js';
export { LlmRouterModule } from './llm-router.module.js';
