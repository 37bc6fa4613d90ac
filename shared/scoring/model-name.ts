/** Amazon's resource names: the account stands in the fifth part. Of two kinds, what follows is the model's own name. */
const ARN = /\barn:aws[\w-]*:[\w-]+:[\w-]*:\d*:(?:foundation-model\/|inference-profile\/)?/i;
/** Google's, which begin with the project. */
const PROJECT = /(^|\/)projects\/[^/]+\/(?:locations\/[^/]+\/)?(?=(?:publishers|models|endpoints)\/)/i;
const PUBLISHER = /(^|\/)publishers\/([^/]+)\/models\//i;

/**
 * A model's name without whose account or project calls it: that is nobody's business where the name is shown.
 * @example
 * modelPart("arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-pro-v1:0") // "us.amazon.nova-pro-v1:0"
 * modelPart("projects/acme/locations/global/publishers/google/models/gemini-2.5-pro") // "google/gemini-2.5-pro"
 */
export function modelPart(name: string): string {
  return name.replace(ARN, "").replace(PROJECT, "$1").replace(PUBLISHER, "$1$2/");
}
