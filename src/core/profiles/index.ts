export { askModel } from './ask-model.ts';
export {
  type CatalogueEntry,
  MAX_AGE_MS,
  type ModelCatalogue,
  type ProbeStatus,
  refreshCatalogue,
} from './catalogue.ts';
export { classify, type ModelClass } from './classify.ts';
export {
  checkProfile,
  type Faults,
  generateProfile,
  PROFILE_KINDS,
  type Profile,
  type ProfileKind,
} from './profile.ts';
export { ProfileStore } from './profile-store.ts';
